"""Writes dates.toml: names of months and weekdays, words for days relative to today, parts of the day and numbers of each
language that whatlang detects and that has no file in lang/, with the everyday words of everyday.toml. Usage: make.py DATES
RBNF, the folders of the unpacked npm packages cldr-dates-full and cldr-rbnf."""

import json
import os
import pathlib
import re
import sys
import tomllib
import unicodedata

# ISO 639-3 code, as Chime stores it, and CLDR's name.
LANGUAGES = """
afr af, amh am, ara ar, aze az, ben bn, bul bg, cat ca, ces cs, cmn zh, cym cy, dan da, ell el, fin fi, guj gu, heb he, hin hi,
hrv hr, hun hu, hye hy, ind id, jav jv, jpn ja, kan kn, kat ka, khm km, kor ko, lav lv, lit lt, mal ml, mar mr,
mkd mk, mya my, nep ne, nob no, ori or, pan pa, pes fa, ron ro, sin si, slk sk, slv sl, srp sr, swe sv, tam ta,
tel te, tgl fil, tha th, tuk tk, urd ur, uzb uz, vie vi, zul zu"""
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
# Languages whose weekdays have another vowel at the end after "on": středa, ve středu.
INFLECTED = {"ces": "aueiyě", "slk": "aueiy", "hrv": "auei", "slv": "aoei", "srp": "ауеи", "mkd": "аи", "bul": "аи"}
# Endings of months after the last consonant of the genitive (or of the name): v srpnu, u kolovozu.
MONTH_ENDINGS = {"ces": "a i u em", "slk": "a i u om", "hrv": "a u om em", "srp": "а у ом ем"}
# Languages that add endings to names, after a vowel that may become long (szerda, szerdán); in some only to days.
OPEN = {"fin": "", "hun": "a"}
OPEN_DAYS = {**OPEN, "swe": "", "dan": "", "nob": ""}
# Prepositions that are written as one word with a name.
PREFIXES = {"ara": "ب ل و", "heb": "ב ל מ ו"}


def forms(name, endings, code, is_open):
    """The name and its other forms. In Japanese also 月曜 for 月曜日."""
    name = name.strip().lower()
    if code in is_open and len(name) > 4:
        return [name.rstrip(is_open[code]) + "*"]
    found = [name] + with_prefixes(code, name)
    # The accusative of Greek months.
    if re.fullmatch("[ά-ώ]+ς", name):
        found.append(name[:-1])
    if len(name) > 3 and name[-1] in endings:
        found += [name[:-1] + ending for ending in endings]
    if re.fullmatch(".曜日", name):
        found.append(name[:-1])
    if "\u200c" in name:
        found.append(name.replace("\u200c", " "))
    # Particles follow without a space in Korean, and an ending in Persian.
    return [one + "*" if re.fullmatch("[가-힣]+|[0-9]+월|.*شنبه", one) else one for one in found]


def with_prefixes(code, phrase):
    joined = [prefix + phrase for prefix in PREFIXES.get(code, "").split() if phrase]
    # The Arabic article loses its first letter after "for".
    return [re.sub("^لال", "لل", one) for one in joined]


def month_names(calendar, code):
    found = names(calendar, [str(month) for month in range(1, 13)], code, OPEN)
    stems = [re.sub("[aeuаеу]$", "", one.split("|")[0]) for one in found]
    endings = MONTH_ENDINGS.get(code, "").split()
    if code == "cmn":
        found = [f"{one}|{number}月" for number, one in enumerate(found, 1)]
    return ["|".join(dict.fromkeys(one.split("|") + [stem + ending for ending in endings if stem[-1] != "í"])) for one, stem in zip(found, stems)]


def names(calendar, keys, code, is_open, endings=""):
    found = []
    for key in keys:
        each = [calendar[kind]["wide"][key] for kind in ("format", "stand-alone")]
        # Shorter names that are words of their own, such as 周一; in alphabets they would mostly be other words.
        each += [short for kind in ("format", "stand-alone") for short in [calendar[kind]["abbreviated"][key]]
                 if re.fullmatch("周.", short)]
        found.append("|".join(dict.fromkeys(form for name in each if not name.isdigit() for form in forms(name, endings, code, is_open))))
    return found


def ago(fields):
    """The words for "ago", and the words for each unit with a number, from patterns such as `{0} روز پیش`."""
    units = ("day", "week", "month", "year")
    patterns = {unit: [one for one in fields[unit]["relativeTime-type-past"].values() if "{0}" in one and "(" not in one]
                for unit in units}
    sides = {unit: [one.lower().split("{0}") for one in each] for unit, each in patterns.items()}
    all_sides = [side for each in sides.values() for side in each]
    before = os.path.commonprefix([side[0].split() for side in all_sides])
    if before:
        rest = {unit: [" ".join(one[0].split()[len(before):] + one[1].split()) for one in each]
                for unit, each in sides.items()}
        return " ".join(before), {unit: ",".join(dict.fromkeys(each)) for unit, each in rest.items()}
    # In scripts without spaces each character is a word: 3天前.
    split = list if any(re.search("[\u3040-\u9fff]", side[1]) for side in all_sides) else str.split
    join = "" if split is list else " "
    after = {unit: [[word for word in split(one[1]) if word.strip()] for one in each] for unit, each in sides.items()}
    common = os.path.commonprefix([words[::-1] for each in after.values() for words in each])[::-1]
    rest = {unit: [join.join(words[:len(words) - len(common)]) for words in each] for unit, each in after.items()}
    return join.join(common), {unit: ",".join(dict.fromkeys(one for one in each if one)) for unit, each in rest.items()}


def numbers(folder, name):
    """The numbers from two to twelve in words."""
    file = folder / "rbnf" / f"{name}.json"
    rules = json.load(open(file))["rbnf"]["rbnf"]["SpelloutRules"] if file.exists() else {}
    usual = [dict(each) for kind, each in rules.items() if re.match("%spellout-(cardinal|numbering)", kind)
             and not re.search("financial|year", kind)]
    found = {}
    for rule in usual:
        for number in range(2, 13):
            word = re.sub(r"\[.*|;.*", "", rule.get(str(number), "")).replace("\u00ad", "").strip()
            # Finnish has a number in thirty cases.
            is_form = list(found.values()).count(number) < 4
            if word and is_form and not re.search("[=→←%]| ", word):
                found.setdefault(word.lower(), number)
    return found


def unread(calendar):
    """Words for times of day. A reminder is not set by a time that is only partly known, so these refuse it."""
    periods = [phrase for kind in ("format", "stand-alone") for width in ("wide", "abbreviated")
               for phrase in calendar["dayPeriods"][kind][width].values()]
    at = [re.sub(r"[{}0-9'.,]", " ", pattern) for pattern in calendar["dateTimeFormats-atTime"]["standard"].values()]
    phrases = [" ".join(re.sub(r"[(),|]", " ", one.lower()).split()) for one in periods + at]
    return ",".join(dict.fromkeys(one for one in phrases if sum(map(str.isalpha, one)) > 1))


def without_accents(text):
    kept = unicodedata.normalize("NFD", text.replace("đ", "d").replace("ı", "i"))
    return "".join(one for one in kept if not "\u0300" <= one <= "\u036f")


def entry(folder, rbnf, code, name):
    read = lambda file: json.load(open(folder / "main" / name / file))["main"][name]["dates"]
    calendar, fields = read("ca-gregorian.json")["calendars"]["gregorian"], read("dateFields.json")["fields"]

    def relative(field, number):
        phrase = fields[field].get(f"relative-type-{number}", "").lower()
        return re.sub(r"[(),|]", " ", phrase)

    def day(number):
        phrase = relative("day", number)
        return phrase + "*" if re.fullmatch("[가-힣]+", phrase) else phrase

    word, units = ago(fields)
    return {
        "months": month_names(calendar["months"], code),
        "weekdays": names(calendar["days"], DAYS, code, OPEN_DAYS, INFLECTED.get(code, "")),
        "today": day(0), "tomorrow": day(1), "yesterday": day(-1), "days_before": day(-2), "after_tomorrow": day(2),
        "this_week": relative("week", 0), "last_week": relative("week", -1),
        "this_month": relative("month", 0), "last_month": relative("month", -1),
        **units, "ago": word, "unread": unread(calendar), "counts": numbers(rbnf, name),
    }


PARTS = ["morning", "noon", "afternoon", "evening", "night"]


def with_everyday(entry, own, code):
    """Adds the words of everyday.toml to an entry, and prepositions to all words for days."""
    for key, value in own.items():
        known = entry.get(key) or value
        if isinstance(value, list):
            entry[key] = ["|".join(dict.fromkeys(filter(None, both))) for both in zip(known, value)]
        else:
            entry[key] = ",".join(dict.fromkeys(f"{known},{value}".strip(",").split(",")))
    for key in ("today", "yesterday"):
        phrases = entry[key].split(",")
        entry[key] = ",".join(dict.fromkeys(phrases + [one for phrase in phrases for one in with_prefixes(code, phrase)]))
    # The words of a script without spaces are of several characters, each of which counts as a word.
    long = [word for word in entry["counts"] if len(word) > 1 and re.match("[\u0e00-\u0eff\u1000-\u109f\u1780-\u9fff]", word)]
    entry["counts"] = {word: number for word, number in entry["counts"].items() if word not in long}
    known = [one for key in PARTS + ["at", "every", "oclock", "before_time"] for one in entry.get(key, "").split(",")]
    bare = [without_accents(one) for one in known if re.match("[a-zà-ỹ]", one)]
    others = [one for one in entry["unread"].split(",") + bare + long if one and one not in known]
    entry["unread"] = ",".join(dict.fromkeys(others))
    return entry


def main():
    folder, rbnf = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    version = json.load(open(folder / "package.json"))["version"]
    everyday = tomllib.loads((pathlib.Path(__file__).parent / "everyday.toml").read_text())
    print(f"# Made by make.py from CLDR {version} (LICENSE beside this file) and everyday.toml. Not edited by hand.")
    for pair in LANGUAGES.replace("\n", " ").split(","):
        code, name = pair.split()
        if not (folder / "main" / name).exists():
            print(code, name, "is not in CLDR", file=sys.stderr)
            continue
        print(f"\n[{code}]")
        for key, value in with_everyday(entry(folder, rbnf, code, name), everyday.get(code, {}), code).items():
            text = json.dumps(value, ensure_ascii=False)
            print(f"{key} = {text}" if key != "counts" else f"{key} = {text.replace(': ', ' = ')}")


main()
