#!/usr/bin/env python3
"""Makes packs for `chime-eval context` from public chat archives and the labels beside this file.
usage: make_packs.py ARCHIVES OUT     ARCHIVES holds a clone of each repository in README.md under its name: coraza, zig, fluid, qtox
"""
import datetime, html, json, os, re, subprocess, sys, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
UTC = datetime.timezone.utc


def files(folder, pattern):
    """Yields the texts of the newest commit's files whose names match, in the order of their names."""
    if not os.path.exists(folder):
        sys.exit(f"there is no {folder}: clone the repository that README.md names for it")
    git = lambda *args: subprocess.run(["git", "-C", folder, *args], capture_output=True, check=True).stdout.decode("utf8", "replace")
    names = git("-c", "core.quotepath=off", "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    for name in sorted(name for name in names if re.search(pattern, name)):
        yield git("show", "HEAD:" + name)


def coraza(folder):
    """Meetings in Markdown: `**name** <span>12:01:56 UTC</span>`, a heading a day."""
    for text in files(folder, "^chat-archive"):
        day = None
        for part in re.split(r"^(?=### |\*\*)", text, flags=re.M):
            if m := re.match(r"### \w+, (\w+ \d+)\w*, (\d+)", part):
                day = datetime.datetime.strptime(f"{m[1]} {m[2]}", "%b %d %Y")
            elif m := re.match(r"\*\*(.*?)\*\* <span[^>]*>(\d+):(\d+):(\d+) UTC</span>\s*(.*)", part, re.S):
                body = html.unescape(re.sub(r"</?span[^>]*>", "", m[5])).strip()
                body = re.sub(r"\[(https?://[^\]]+)\]\(\1\)", r"\1", body)
                at = day.replace(hour=int(m[2]), minute=int(m[3]), second=int(m[4]), tzinfo=UTC)
                yield int(at.timestamp()), m[1], body


def zig(folder):
    """Two months of IRC: seconds, name, text, a blank line."""
    for text in files(folder, "^2018/0[23]-"):
        for part in text.split("\n\n"):
            rows = part.strip().split("\n", 2)
            if len(rows) == 3 and rows[0].isdigit():
                yield int(rows[0]), rows[1], rows[2]


def fluid(folder):
    """A quarter of IRC: `2016-06-17T22:41:17 <name> text`."""
    for text in files(folder, "botbot.me/fluid-work/2016/fluid-work-2016-0[456]"):
        text = re.sub(r"\\'", "'", text.removeprefix("b'").replace("\\n", "\n"))
        for m in re.finditer(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) <([^>]+)> (.+)$", text, re.M):
            at = datetime.datetime.fromisoformat(m[1]).replace(tzinfo=UTC)
            yield int(at.timestamp()), m[2], m[3]


def qtox(folder):
    """Three weeks of IRC, a file a day: `[17:07:55] <name> text` and `[17:07:55] * name does something`."""
    for day in range(6, 27):
        for text in files(folder, f"^2016/12/#qtox_201612{day:02}"):
            for m in re.finditer(r"^\[(\d\d):(\d\d):(\d\d)\] (?:<([^>]+)>|\* (?!\*)(\S+)) (.*)$", text, re.M):
                at = datetime.datetime(2016, 12, day, int(m[1]), int(m[2]), int(m[3]), tzinfo=UTC)
                said = m[6] if m[4] else f"{m[5]} {m[6]}"
                yield int(at.timestamp()), m[4] or m[5], re.sub(r"\x03\d{0,2}(,\d{1,2})?|[\x00-\x1f]", "", said).strip()


def write(name, rows, out):
    """Writes `messages.jsonl`, numbered from 1 in order of time, and `queries.jsonl`."""
    number = lambda who: zlib.crc32(who.encode()) & 0x7FFFFFFF
    said = [row for row in sorted(rows, key=lambda row: row[0]) if row[2].strip()]
    message = lambda n, at, who, text: dict(chat_id=name, message_id=n, date=at, from_id=number(who), from_name=who, text=text)
    messages = [message(n, *row) for n, row in enumerate(said, 1)]
    queries = []
    for line in open(f"{HERE}/{name}.jsonl", encoding="utf8"):
        tag = json.loads(line)
        last, first = tag["after"], max(1, tag["after"] - 199)
        trigger = message(1_000_000 + last, messages[last - 1]["date"] + 60, tag["asker"], tag["text"])
        is_bare = not tag["text"].replace("@bot", "").strip()
        queries.append(dict(
            query_id=tag["id"], variant="bare_telegram" if is_bare else "telegram", chat_id=name, trigger=trigger,
            reply_to=tag["reply_to"], window=[first, last], gold_context=tag["needed"], gold_related=tag["matter"],
            gold_far=[n for n in tag["needed"] if n < first], slice=dict(kind=tag["kind"])))
    os.makedirs(f"{out}/{name}", exist_ok=True)
    for kind, rows in (("messages", messages), ("queries", queries)):
        with open(f"{out}/{name}/{kind}.jsonl", "w", encoding="utf8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"{name}: {len(messages)} messages, {len(queries)} tags")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for read in (coraza, zig, fluid, qtox):
        write(read.__name__, read(f"{sys.argv[1]}/{read.__name__}"), sys.argv[2])
