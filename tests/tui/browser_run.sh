#!/usr/bin/env bash
# The screen in a browser, end to end: `ego serve --web`, a headless Chromium that types and sees a card, and no process
# left behind: neither when the visitor goes, nor when the server is told to end.
# usage: browser_run.sh EGO SCREENSHOT.png      EGO is the installed command, with the extra [server]
# needs: node and npm; Chromium (on Debian: apt-get install chromium) at $CHROMIUM or /usr/bin/chromium
set -euo pipefail
ego=$(realpath "$1")
picture=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
port=${PORT:-8799}
server=
trap 'test -n "$server" && kill -9 "$server" 2>/dev/null; rm -rf "$work"' EXIT
mkdir -p "$(dirname "$picture")"

npm install --silent --no-fund --no-audit --prefix "$work" playwright-core@1 >/dev/null
export EGO_HOME="$work/home" NODE_PATH="$work/node_modules" PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1

children() { pgrep -P "$server" -f "ego_cli[.]tui[.]start" || true; }
gone() { # waits until no child is left
    for _ in $(seq 100); do
        test -z "$(children)" && return 0
        sleep 0.1
    done
    echo "a child is left behind: $(children)" >&2
    return 1
}

"$ego" serve --web --port "$port" 2>"$work/serve.log" &
server=$!
for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done

node "$here/browser_run.cjs" "http://localhost:$port" "$picture"
gone && echo "the visitor's process ended with the visit"

# A visitor who is there while the server is told to end.
node -e '
  const { chromium } = require("playwright-core");
  chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] })
    .then(async (b) => { const p = await b.newPage(); await p.goto(process.argv[1]); await p.waitForTimeout(15000); await b.close(); })
    .catch(() => process.exit(0));
' "http://localhost:$port" &
visitor=$!
for _ in $(seq 150); do
    test -n "$(children)" && break
    sleep 0.1
done
left=$(children)
test -n "$left" || { echo "the second visitor never came" >&2; exit 1; }
kill -TERM "$server"
wait "$server" || { echo "the server left with $?" >&2; cat "$work/serve.log" >&2; exit 1; }
for pid in $left; do
    if kill -0 "$pid" 2>/dev/null; then
        echo "process $pid outlived the server" >&2
        exit 1
    fi
done
server=
echo "no process outlived the server"
kill "$visitor" 2>/dev/null || true
wait "$visitor" 2>/dev/null || true
