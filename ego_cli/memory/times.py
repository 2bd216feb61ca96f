"""Days that people name in words ("yesterday", "in May 2023", "two weeks ago"), as windows of time.

A day is a calendar day of the shop's zone, not 24 hours and not a day in UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ego_cli.errors import MisuseError
from ego_cli.memory.entry import as_utc

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "zero",
            "one a an",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        )
    )
    for word in words.split()
} | {"couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 4}
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}

_MONTH = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY = f"(?:{'|'.join(_DAYS)})"
_COUNT = f"(?:\\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"


@lru_cache(maxsize=1)
def _expression() -> re.Pattern[str]:
    """Compiled when it is first needed: most questions name no time."""
    return re.compile(
        rf"""
    \b(?:
      (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})
    | (?P<dmy_day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<dmy_month>{_MONTH})\b\.?(?:,?\s+(?P<dmy_year>\d{{4}}))?
    | (?P<mdy_month>{_MONTH})\.?\s+(?P<mdy_day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<mdy_year>\d{{4}}))?
    | (?P<my_month>{_MONTH})\.?,?\s+(?:of\s+)?(?P<my_year>\d{{4}})
    | (?:in|during|this|last|next|since|by|until|early|mid|late|of)\s+(?P<month>{_MONTH})\b
    | (?:(?P<season_which>last|this|next)\s+)?(?P<season>spring|summer|autumn|fall|winter)(?:\s+(?:of\s+)?(?P<season_year>\d{{4}}))?
    | (?:in|during|since|of|by|year)\s+(?P<year>(?:19|20)\d{{2}})
    | (?P<word>day\ before\ yesterday|next\ tomorrow|day\ after\ tomorrow|yesterday|today|tomorrow|tonight|
        this\ (?:morning|afternoon|evening)|last\ night)
    | (?P<ago_count>{_COUNT})\s+(?P<ago_unit>day|week|weekend|month|year)s?\s+(?:ago|back)
    | (?:the\s+)?(?P<past>last|past|previous)\s+(?P<span_count>{_COUNT})\s+(?P<span_unit>day|week|month|year)s?
    | (?P<in_word>in)\s+(?P<in_count>{_COUNT})\s+(?P<in_unit>day|week|month|year)s?
    | (?P<which>last|this|next|past|previous|coming|the\ other|earlier\ this)\s+(?P<unit>week(?:end)?|month|year|day)
    | (?P<day_which>last|this|next|on|by|for|before|coming|past)\s+(?P<day>{_DAY})
    )\b
    """,
        re.IGNORECASE | re.VERBOSE,
    )


_QUICK = re.compile(
    rf"\d{{4}}|ago\b|back\b|last|this|next|past|previous|coming|earlier|other|day|tonight|tomorrow|weeks?|months?|years?|spring|summer|autumn|fall|winter|{_MONTH}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time [start, end) in UTC, and the words that named it."""

    start: datetime
    end: datetime
    words: str

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies inside."""
        return self.start <= as_utc(moment) < self.end

    def days_from(self, moment: datetime) -> float:
        """Days between a moment and the nearest edge; 0 inside."""
        moment = as_utc(moment)
        if moment < self.start:
            return (self.start - moment).total_seconds() / 86_400
        return max(0.0, (moment - self.end).total_seconds() / 86_400)


@lru_cache(maxsize=8)
def zone(name: str) -> tzinfo:
    """The time zone of that IANA name; ``MisuseError`` when there is none."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise MisuseError(
            f"no time zone is called {name!r}", hint="use an IANA name such as Africa/Lagos"
        ) from error


def windows(text: str, now: datetime, local: tzinfo, *, ahead: bool = False) -> list[Window]:
    """The stretches of time that a text names, read at ``now`` by the calendar of ``local``; most texts name none.

    A weekday or month that could be either is the last one, or with ``ahead`` the next.
    """
    if not _QUICK.search(text):
        return []
    today = as_utc(now).astimezone(local).date()
    found = []
    for match in _expression().finditer(text):
        try:
            days = _days(match, today, ahead)
        except (ValueError, OverflowError):
            continue  # "31 February", year 0: not a date
        if days:
            first, last = days
            found.append(
                Window(_midnight(first, local), _midnight(last + timedelta(days=1), local), match.group())
            )
    return found


def without_times(text: str) -> str:
    """A text without the words that name a time: "kettle two weeks ago" is a kettle."""
    return " ".join(_expression().sub(" ", text).split()) or text


def local_day(moment: datetime, local: tzinfo) -> str:
    """The calendar day of a moment in words: ``Monday 8 May 2023``."""
    day = as_utc(moment).astimezone(local).date()
    return f"{_DAYS[day.weekday()].title()} {day.day} {_MONTHS[day.month - 1].title()} {day.year}"


def _midnight(day: date, local: tzinfo) -> datetime:
    return datetime.combine(day, time.min, local).astimezone(UTC)


def _days(match: re.Match[str], today: date, ahead: bool) -> tuple[date, date] | None:
    part = {key: value.lower() for key, value in match.groupdict().items() if value}
    if "iso" in part:
        day = date.fromisoformat(part["iso"])
        return day, day
    for form in ("dmy", "mdy"):
        if f"{form}_month" in part:
            month = _month_number(part[f"{form}_month"])
            year = part.get(f"{form}_year")
            day = date(int(year) if year else _year_of(month, today, ahead), month, int(part[f"{form}_day"]))
            return day, day
    if "my_month" in part:
        return _month_days(int(part["my_year"]), _month_number(part["my_month"]))
    if "month" in part:
        month = _month_number(part["month"])
        return _month_days(_year_of(month, today, ahead), month)
    if "season" in part:
        year = int(part.get("season_year", today.year)) + {"last": -1, "next": 1}.get(
            part.get("season_which", ""), 0
        )
        start, end = _SEASONS[part["season"]]
        return date(year, start, 1), _month_days(year + (end < start), end)[1]
    if "year" in part:
        return date(int(part["year"]), 1, 1), date(int(part["year"]), 12, 31)
    if "word" in part:
        shift = {"yesterday": -1, "last night": -1, "day before yesterday": -2, "tomorrow": 1}
        shift |= {"next tomorrow": 2, "day after tomorrow": 2}
        day = today + timedelta(days=shift.get(part["word"], 0))
        return day, day
    if "ago_unit" in part:
        return _around(today, part["ago_unit"], -_number(part["ago_count"]))
    if "in_word" in part:
        return _around(today, part["in_unit"], _number(part["in_count"]))
    if "span_unit" in part:
        return _around(today, part["span_unit"], -_number(part["span_count"]))[0], today
    if "unit" in part:
        which = (
            -1
            if part["which"] in ("last", "past", "previous")
            else 1
            if part["which"] in ("next", "coming")
            else 0
        )
        if part["which"] == "the other":
            return today - timedelta(days=7), today
        if part["unit"] == "day":
            return None
        return _around(today, part["unit"], which)
    return _weekday(part["day_which"], _DAYS.index(part["day"]), today, ahead)


def _month_number(word: str) -> int:
    return next(i for i, month in enumerate(_MONTHS, 1) if month.startswith(word[:3]))


def _year_of(month: int, today: date, ahead: bool) -> int:
    """A month without a year is the one that was last (or is now), or that comes."""
    if ahead:
        return today.year if month >= today.month else today.year + 1
    return today.year if month <= today.month else today.year - 1


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[" ".join(word.split())]


def _month_days(year: int, month: int) -> tuple[date, date]:
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(days=1)


def _around(today: date, unit: str, shift: int) -> tuple[date, date]:
    """The calendar unit that lies ``shift`` units from today's."""
    if unit == "day":
        day = today + timedelta(days=shift)
        return day, day
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
        return monday, monday + timedelta(days=6)
    if unit == "weekend":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
        return monday + timedelta(days=5), monday + timedelta(days=6)
    if unit == "month":
        months = today.year * 12 + today.month - 1 + shift
        return _month_days(months // 12, months % 12 + 1)
    return date(today.year + shift, 1, 1), date(today.year + shift, 12, 31)


def _weekday(which: str, weekday: int, today: date, ahead: bool) -> tuple[date, date]:
    until = (weekday - today.weekday()) % 7
    if which in ("last", "past"):
        day = today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    elif which in ("next", "coming", "by", "for", "before"):
        day = today + timedelta(days=until or 7)
    elif which == "this" or ahead:
        day = today + timedelta(days=until)
    else:  # "on Monday": told of the past as a rule
        day = today - timedelta(days=(today.weekday() - weekday) % 7)
    return day, day
