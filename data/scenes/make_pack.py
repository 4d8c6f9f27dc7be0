#!/usr/bin/env python3
"""Makes a pack for `chime-eval context` from scenes.txt: make_pack.py SCENES FOLDER"""

import json
import re
import sys
from pathlib import Path

NEEDED = [1, 3, 4]
LINE = re.compile(r"(\d\d):(\d\d) (\S+?)#(\d)(?:>(\d))? (.*)")
TAG = re.compile(r"(\d\d):(\d\d) (\S+) tags")
FIRST_DAY = 1_768_176_000  # 12 January 2026


def message(chat, number, at, author, text, reply_to):
    return {
        "chat_id": chat, "message_id": number, "date": at, "from_id": sum(map(ord, author)) * 1000 + len(author),
        "from_name": author, "username": author, "is_bot": False, "text": text, "reply_to": reply_to,
        "gold_reply_to": None, "gold_reply_to_all": [], "gold_conversation_id": "",
    }


def query(chat, kind, reply_to):
    facts = {"n_gold": len(NEEDED), "nearest_dist": 2, "nearest_gap_s": 0, "kind": kind}
    return {
        "query_id": f"{chat}:{kind}", "variant": "scene", "chat_id": chat, "message_id": 6, "reply_to": reply_to,
        "window": [1, 5], "gold_context": NEEDED, "slice": facts,
    }


def main(scenes, folder):
    folder.mkdir(parents=True, exist_ok=True)
    messages, queries = [], []
    for day, scene in enumerate(scenes.read_text(encoding="utf-8").strip().split("\n\n")):
        head, *lines, tag = scene.split("\n")
        name = head.removeprefix("== ").split(":")[0].replace(" ", "_")
        at = lambda hour, minute: FIRST_DAY + day * 86_400 + int(hour) * 3_600 + int(minute) * 60
        for kind, reply_to in (("bare", None), ("reply", 4)):
            chat = f"scene:{name}:{kind}"
            for line in lines:
                hour, minute, author, number, parent, text = LINE.fullmatch(line).groups()
                parent = int(parent) if parent else None
                messages.append(message(chat, int(number), at(hour, minute) + int(number), author, text, parent))
            hour, minute, author = TAG.fullmatch(tag).groups()
            messages.append(message(chat, 6, at(hour, minute) + 30, author, "@bot", reply_to))
            queries.append(query(chat, kind, reply_to))
    for name, rows in (("messages.jsonl", messages), ("queries.jsonl", queries)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(queries)} tags in {len(queries) // 2} scenes")


main(Path(sys.argv[1]), Path(sys.argv[2]))
