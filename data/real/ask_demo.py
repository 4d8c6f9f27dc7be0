#!/usr/bin/env python3
"""Asks the questions of members.jsonl in `chime demo` without a model, and counts the answers that quote a message that is needed.
usage: ask_demo.py PROGRAM ARCHIVES OUT     ARCHIVES holds clones as in README.md; the chat files are written to OUT
"""
import concurrent.futures, datetime, glob, json, os, re, subprocess, sys, time
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
# Seconds until the demo has read a chat, and until it has answered a line.
STARTS, ANSWERS = 2.5, 1.5


def coraza(archives, first, last):
    """Meetings of some months, with the replies of threads; a message that is given twice is left out."""
    rows, parent, seen = [], None, {}
    for name in sorted(glob.glob(f"{archives}/coraza/chat-archive-*.md")):
        if not first <= name[-13:-6] <= last:
            continue
        day = None
        for part in re.split(r"(?m)^(?=### |(?:↳ )?\*\*[^*\n]+\*\* <span)", open(name, encoding="utf8").read()):
            if m := re.match(r"### \w+, (\w+) (\d+)\w+, (\d+)", part):
                day = datetime.datetime.strptime(f"{m[1]} {m[2]} {m[3]}", "%b %d %Y").date()
                continue
            in_thread = part.startswith("↳")
            m = re.match(r"\*\*([^*\n]+)\*\* <span[^>]*>(\d\d:\d\d:\d\d) UTC</span>\s*(.*)", part.removeprefix("↳ "), re.S)
            if not m:
                continue
            text = re.sub(r"</?span[^>]*>", "", m[3])
            text = re.sub(r"\[(https?://[^\]]*)\]\(\1/?\)", r"\1", text)
            text = re.sub(r"\[([^\]]*)\]\((https?://[^)]*)\)", r"\1 (\2)", text)
            text = re.sub(r"_@([^_]+)_", r"@\1", text)
            row = (f"{day} {m[2]}", m[1], text)
            place = seen.setdefault(row, len(rows))
            if not in_thread:
                parent = place
            if text.strip() and place == len(rows):
                rows.append((*row, parent if in_thread else None))
    return rows


def zig(archives, pattern):
    """Days of IRC: seconds, name, text, a blank line."""
    for name in sorted(glob.glob(f"{archives}/zig/{pattern}")):
        lines = open(name, errors="replace").read().split("\n")
        for at in range(0, len(lines) - 2, 4):
            if lines[at].isdigit() and lines[at + 2].strip():
                sent = datetime.datetime.fromtimestamp(int(lines[at]), datetime.timezone.utc).replace(tzinfo=None)
                yield str(sent), lines[at + 1].split("!")[0], lines[at + 2], None


def fluid(archives, pattern, last_day="31"):
    """Days of IRC: `2016-06-17T22:41:17 <name> text`."""
    rows = []
    for name in sorted(glob.glob(f"{archives}/fluid/{pattern}")):
        if name[-6:-4] > last_day:
            continue
        text = re.sub(r"^b['\"]", "", open(name, errors="replace").read())
        if "\\n" in text and text.count("\n") < 3:
            text = text.replace("\\n", "\n")
        for m in re.finditer(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\s+<([^>]+)>\s?(.*)$", text, re.M):
            said = m[4].replace("\\'", "'").replace("\\\\", "\\")
            octets = lambda found: bytes.fromhex(found[0].replace("\\x", "")).decode("utf8", "replace")
            if said.strip():
                rows.append((f"{m[1]} {m[2]}", m[3], re.sub(r"(?:\\x[0-9a-f]{2})+", octets, said), None))
    return sorted(rows, key=lambda row: row[0])


CHATS = {
    "coraza-1": lambda folder: coraza(folder, "2022-02", "2022-07"),
    "coraza-2": lambda folder: coraza(folder, "2022-08", "2023-09"),
    "fluid-work": lambda folder: fluid(folder, "fluid-irc-logs/#fluid-work/*2019-07-*.log", "17"),
    "fluid-design": lambda folder: fluid(folder, "botbot.me/fluid-design/2016/*-10-*.log"),
    "zig-1": lambda folder: zig(folder, "2018/05-0*.txt"),
    "zig-2": lambda folder: zig(folder, "2021/09-0*.txt"),
}


def chat_lines(rows):
    """Returns the lines of a chat file, numbered in order of time."""
    rows = list(rows)
    order = sorted(range(len(rows)), key=lambda at: rows[at][0])
    number = {at: n for n, at in enumerate(order, 1)}
    line = lambda sent, who, text, parent: (sent, who.replace("|", "/").strip(), number.get(parent, "-"), " ".join(text.split()))
    return [f"{number[at]} | " + " | ".join(map(str, line(*rows[at]))) + "\n" for at in order]


def quoted(program, file, lines):
    """Returns the ids of the messages that the last answer quotes."""
    demo = subprocess.Popen([program, "demo", "--json", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={})
    time.sleep(STARTS)
    for line in lines:
        demo.stdin.write(line + "\n")
        demo.stdin.flush()
        time.sleep(ANSWERS)
    demo.stdin.close()
    events = [json.loads(line) for line in demo.stdout.read().splitlines() if line.startswith("{")]
    answers = [event for event in events if event["event"] == "answer"]
    return [source["id"] for source in answers[-1]["sources"]] if answers else []


def main(program, archives, out):
    os.makedirs(out, exist_ok=True)
    chats = {name: chat_lines(make(archives)) for name, make in CHATS.items()}
    questions = [json.loads(line) for line in open(f"{HERE}/members.jsonl", encoding="utf8")]

    def judge(question):
        file = f"{out}/{question['id']}.txt"
        with open(file, "w", encoding="utf8") as chat:
            chat.writelines(chats[question["chat"]][: question.get("until")])
        ids = quoted(program, file, question["lines"])
        has = lambda group: len(set(group["any"]) & set(ids)) >= group.get("least", 1)
        return question["kind"], all(map(has, question["needed"])) if question["needed"] else not ids, len(ids)

    asked, right, shown = Counter(), Counter(), Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for kind, is_right, count in pool.map(judge, questions):
            for name in (kind, "all"):
                asked[name] += 1
                right[name] += is_right
                shown[name] += count
    for kind in asked:
        print(f"{kind:10} {right[kind]:3} of {asked[kind]:3}   {shown[kind] / asked[kind]:.1f} quotes")


if __name__ == "__main__":
    main(*sys.argv[1:])
