#!/usr/bin/env bash
# The installed `ego` on a real terminal, end to end: types, resizes, reads the screen, leaves with 0, resumes.
# usage: tmux_run.sh EGO        EGO is the installed command; needs tmux
set -euo pipefail
ego=$(realpath "$1")
work=$(mktemp -d)
export EGO_HOME="$work/home"
tmux() { command tmux -S "$work/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

screen() { tmux capture-pane -p -t it; }
see() { # waits until the screen shows $1
    for _ in $(seq 300); do
        screen | grep -qE -- "$1" && return 0
        sleep 0.1
    done
    echo "the screen never showed: $1" >&2
    screen >&2
    exit 1
}
type_line() { tmux send-keys -t it -l "$1"; tmux send-keys -t it Enter; }
start() { # starts ego with "$@"; its exit code goes to a file
    rm -f "$work/code"
    tmux new-session -d -s it -x 120 -y 40 "$ego $*; echo \$? > $work/code"
}
left_with() { # waits for the exit code $1
    for _ in $(seq 100); do
        test -s "$work/code" && break
        sleep 0.1
    done
    code=$(cat "$work/code" 2>/dev/null || true)
    test "$code" = "$1" || { echo "left with ${code:-nothing}, not $1" >&2; screen >&2; exit 1; }
}

tmux new-session -d -s keeper "sleep 600" # a server with no session ends, and takes the next start with it
start
see 'Hello\. What are you looking for'
type_line 'power bank under 20k'
see '₦[0-9,]+ under'
see 'Slots'
see '≤ ₦20,000'
echo "120x40: a card and what was understood"

tmux resize-window -t it -x 80 -y 24
see '· ≤ ₦20,000'
! screen | grep -q 'Slots' || { echo "80x24: the inspector covers the chat" >&2; exit 1; }
tmux send-keys -t it C-o
see 'Slots'
tmux send-keys -t it Escape
echo "80x24: the inspector comes and goes over the chat"

tmux resize-window -t it -x 200 -y 60
see 'Timings'
type_line '/why 1'
see 'why number 1'
type_line '/help'
see 'Talk as you would in a shop'
tmux send-keys -t it Escape
see 'What are you looking for\?  / for commands'
type_line '/quit'
left_with 0
echo "left with 0"

start --continue
see 'power bank under 20k'
see '≤ ₦20,000'
tmux send-keys -t it C-c
sleep 0.2
tmux send-keys -t it C-c
left_with 0
echo "resumed where it was, left by Ctrl+C twice with 0"

start --continue
see 'power bank under 20k'
type_line 'a white fan'
see 'you   a white fan'
sleep 2
ego_pid=$(command pgrep -P "$(tmux display-message -p -t it '#{pane_pid}')" || tmux display-message -p -t it '#{pane_pid}')
tmux kill-session -t it
for _ in $(seq 100); do
    kill -0 "$ego_pid" 2>/dev/null || break
    sleep 0.1
done
! kill -0 "$ego_pid" 2>/dev/null || { echo "ego outlived its terminal" >&2; exit 1; }
start --continue
see 'a white fan'
tmux kill-session -t it
echo "a closed terminal ends it, and nothing said is lost"
