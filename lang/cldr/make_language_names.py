"""Writes language_names.toml: the names of languages that a question may name to be answered in, in the bot's languages.
Usage: make_language_names.py NAMES, the folder of the unpacked npm package cldr-localenames-full."""

import json
import pathlib
import sys

NAMED_IN = "en de es fr it nl pl pt ru tr uk"
# Shorter names, such as "Thai", usually mean something else of that country.
SHORTEST = 5
# Names of ancient and of little written languages are words of other meanings more often than they are wanted.
NAMED = """af am ar ast az be bg bn br bs ca ckb cs cy da de el en eo es et eu fa fi fil fo fr fy ga gd gl gsw ha he hi hr hu hy id
is it ja ka kk km ko ku ky la lb lo lt lv mk ml mn ms mt my nds ne nl nn no oc pa pl ps pt rm ro ru sk sl so sq sr sv sw
ta te tg th ti tk tl tr tt uk ur uz vi yi yo zh zu"""

# Names that are everyday words of other meanings in one of the bot's languages.
AMBIGUOUS = "chino danca* fince* frans fries galce* irish italien latin latino malay persa pools"
# Other names, as members write them.
ALSO = {"en": ["farsi"], "es": ["ingles"]}


def forms(name, code):
    """The name and the forms that follow "in": узбекский, узбекском, узбекски."""
    if code == "tr":
        return [name + "*"]
    if code == "ru" and name.endswith("ий"):
        return [name, name[:-2] + "ом", name[:-1]]
    if code == "uk" and name.endswith("ка"):
        return [name, name[:-1] + "у", name[:-1] + "ою"]
    if code == "pl" and name.endswith("ki"):
        return [name, name[:-1] + "u"]
    return [name]


def main():
    folder = pathlib.Path(sys.argv[1])
    version = json.load(open(folder / "package.json"))["version"]
    print(f"# Made by make_language_names.py from CLDR {version} (LICENSE beside this file). Not edited by hand.")
    print("# A word with * at its end stands for all words that begin so.")
    for code in NAMED_IN.split():
        names = json.load(open(folder / "main" / code / "languages.json"))["main"][code]["localeDisplayNames"]["languages"]
        found = [names[language].replace("İ", "i").lower() for language in NAMED.split() if language in names]
        found += ALSO.get(code, [])
        words = [form for name in found if name.isalpha() and len(name) >= SHORTEST for form in forms(name, code)]
        print(f'{code} = "{" ".join(one for one in dict.fromkeys(words) if one not in AMBIGUOUS.split())}"')


main()
