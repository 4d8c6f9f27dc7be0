#!/usr/bin/env python3
"""Makes a pack for `chime-eval context` of each chat beside this file.
usage: make_packs.py OUT
"""
import calendar, json, pathlib, sys, zlib

SMALL_TALK = "s"


def number(text):
    """Returns the number of a message, or None for `-`."""
    return None if text == "-" else int(text)


def read(path):
    """Returns the messages and the tags of a chat."""
    day, messages, tags = 0, [], []
    for line in path.read_text(encoding="utf8").splitlines():
        if line.startswith("## "):
            day = int(line[3:])
        elif line.startswith("T|"):
            _, after, asker, reply, kind, matters, needed, text = line.split("|", 7)
            needed = [int(part) for part in needed.split(",")]
            tags.append(dict(after=int(after), asker=asker, reply=number(reply), kind=kind, matters=set(matters), needed=needed, text=text))
        elif line:
            n, time, author, reply, matters, text = line.split(" ", 5)
            hour, minute = map(int, time.split(":"))
            date = calendar.timegm((2026, 3, day, hour, minute, 0))
            messages.append(dict(n=int(n), day=day, date=date, author=author, reply=number(reply), matters=set(matters.split("+")), text=text))
    return messages, tags


def matter(tag, messages):
    """Returns the numbers of the messages that are about what the tag asks for."""
    earlier = [it for it in messages if it["n"] <= tag["after"]]
    of_matter = [it for it in earlier if it["matters"] & (tag["matters"] - {SMALL_TALK})]
    if tag["kind"] == "time":
        of_matter = [it for it in of_matter if it["day"] == 2]
    if tag["kind"] == "person":
        authors = [messages[n - 1]["author"] for n in tag["needed"]]
        person = max(set(authors), key=authors.count)
        of_matter = [] if len(tag["matters"]) > 1 else of_matter
        of_matter += [it for it in messages if it["author"] == person]
    return sorted({it["n"] for it in of_matter} | set(tag["needed"]))


def write(path, out):
    """Writes `messages.jsonl` and `queries.jsonl` of one chat."""
    name, (messages, tags) = path.stem, read(path)
    row = lambda n, date, who, text: dict(
        chat_id=name, message_id=n, date=date, from_id=zlib.crc32(who.encode()) & 0x7FFFFFFF, from_name=who, text=text)
    rows = [dict(row(it["n"], it["date"], it["author"], it["text"]), username=None, is_bot=False, reply_to=it["reply"]) for it in messages]
    queries = []
    for place, tag in enumerate(tags, 1):
        is_bare = not tag["text"].replace("@bot", "").strip()
        queries.append(dict(
            query_id=f"{name}:{place}", variant="bare_telegram" if is_bare else "telegram", chat_id=name,
            trigger=row(1_000_000 + place, messages[tag["after"] - 1]["date"] + 60, tag["asker"], tag["text"]),
            reply_to=tag["reply"], window=[1, tag["after"]], gold_context=tag["needed"], gold_related=matter(tag, messages),
            gold_far=[], slice=dict(kind=tag["kind"])))
    folder = pathlib.Path(out) / name
    folder.mkdir(parents=True, exist_ok=True)
    for kind, lines in (("messages", rows), ("queries", queries)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{kind}.jsonl").write_text(text, encoding="utf8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for path in sorted(pathlib.Path(__file__).parent.glob("*.txt")):
        write(path, sys.argv[1])
