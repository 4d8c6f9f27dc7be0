#!/usr/bin/env python3
"""Asks the questions of a file in chats, for `chime-eval context`.

make_packs.py QUESTIONS CHATS FOLDER [PACK...] writes FOLDER/new and FOLDER/own, in which each question stands in one of the
labelled CHATS of its language, and for each PACK (a folder with messages.jsonl and queries.jsonl) a pack with the English
questions that have nothing to do with it."""

import json
import re
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path

WHEN = "%Y-%m-%d %H:%M:%S"
MESSAGE = re.compile(r"\d+ \| ")
# Minutes between the last message and the question, in turn.
MINUTES = (1, 5, 40)


def read(questions):
    lines = questions.read_text(encoding="utf-8").splitlines()
    return [line.split(" | ", 2) for line in lines if line and not line.startswith("#")]


def chats_by_language(folder):
    found = {}
    for path in sorted(folder.glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        language = next(line for line in lines if line.startswith("# lang")).split()[2][:2]
        head = [line for line in lines if line.startswith("#")]
        found.setdefault(language, []).append((path.stem, head, [line for line in lines if MESSAGE.match(line)]))
    return found


def asked(number, kind, text, head, messages):
    """Returns the chat up to a message of its second half, with the question behind it and no other trigger."""
    end = len(messages) // 2 + (number * 7919) % (len(messages) - len(messages) // 2)
    said = [line.replace(" | Q:", " | ", 1) for line in messages[: end + 1]]
    last = said[-1].split(" | ", 5)
    at = datetime.strptime(last[1], WHEN) + timedelta(minutes=MINUTES[number % len(MINUTES)])
    members = [author for author in (line.split(" | ", 5)[2] for line in said) if author != "Bot"]
    subjects = [line.split(" | ", 5)[4] for line in said]
    # A question about the group has no label of its own; the newest subject stands for it.
    subject = "new" if kind == "new" else [it for it in subjects if it not in ("-", "new")][-1]
    author = members[number % len(members)]
    trigger = f"{int(last[0]) + 1} | {at.strftime(WHEN)} | {author} | - | Q:{subject} | @bot {text}"
    return "\n".join([*head, *said, trigger]) + "\n"


def in_pack(questions, pack, folder):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(pack / "messages.jsonl", folder)
    queries = [json.loads(line) for line in (pack / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    places = [query for query in queries if not query.get("reply_to")]
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as out:
        for number, text in enumerate(questions):
            query = json.loads(json.dumps(places[number % len(places)]))
            query |= {"query_id": f"{pack.name}-{number}", "variant": "new", "slice": {"kind": "new"}}
            query |= {"gold_context": [], "gold_related": [], "gold_far": []}
            query["trigger"]["text"] = f"@bot {text}"
            print(json.dumps(query, ensure_ascii=False), file=out)


def main(questions, chats, folder, *packs):
    questions, chats = read(Path(questions)), chats_by_language(Path(chats))
    for number, (language, kind, text) in enumerate(questions):
        of_language = chats[language]
        name, head, messages = of_language[number % len(of_language)]
        path = Path(folder) / kind / f"{number:03}_{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(asked(number, kind, text, head, messages), encoding="utf-8")
    english = [text for language, kind, text in questions if (language, kind) == ("en", "new")]
    for pack in map(Path, packs):
        in_pack(english, pack, Path(folder) / pack.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
