#!/bin/sh
# Installs Chime as a service of systemd, or upgrades it. The database is copied before an upgrade.
#
#   sudo sh install.sh [SOURCE]            SOURCE: a folder or an https:// address of a release, a binary, or a .deb;
#                                          by default the folder of this script
#   sudo sh install.sh uninstall [--purge] --purge also deletes settings, messages and backups
#
# It asks for the bot token and the model server, unless they are in the environment: TELEGRAM_BOT_TOKEN, OWNER_IDS,
# ALLOWED_CHATS, OPENAI_BASE_URL, OPENAI_API_KEY, MODEL, TELEGRAM_API_URL. --root DIR installs below DIR and starts nothing.
set -eu

SETTINGS="TELEGRAM_BOT_TOKEN OWNER_IDS ALLOWED_CHATS OPENAI_BASE_URL OPENAI_API_KEY MODEL TELEGRAM_API_URL"
# Ollama and llama.cpp, where they listen by default.
LOCAL_SERVERS=${LOCAL_SERVERS:-http://127.0.0.1:11434/v1 http://127.0.0.1:8080/v1}

fail() { echo "install.sh: $*" >&2; exit 1; }
fetch() {
    curl --fail --silent --show-error --location --proto '=https' --tlsv1.2 "$1" --output "$2" || fail "cannot fetch $1"
}

root='' source='' purge='' action=install
while [ $# -gt 0 ]; do
    case $1 in
        --root) mkdir -p "${2:?--root needs a folder}"; root=$(cd "$2" && pwd); shift ;;
        --purge) purge=--purge ;;
        uninstall) action=uninstall ;;
        -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"; exit ;;
        -*) fail "unknown option $1; see --help" ;;
        *) source=$1 ;;
    esac
    shift
done

settings=$root/etc/chime/chime.env
data=$root/var/lib/chime
unit=$root/etc/systemd/system/chime.service
here=$(cd "$(dirname "$0")" && pwd)
has_systemd=''
if [ -z "$root" ]; then
    [ "$(id -u)" = 0 ] || fail "run it with sudo"
    [ -d /run/systemd/system ] && has_systemd=yes
fi
umask 077
work=$(mktemp -d) copy=''
trap 'rm -rf "$work" ${copy:+"$copy"}' EXIT
# Some shells leave without the line above when a signal ends them. One may come while a secret is typed.
trap 'stty echo 2>/dev/null; exit 130' HUP INT TERM

# Runs a command of chime with the settings and the database of the service.
run_chime() {
    if [ -n "$has_systemd" ]; then
        chimectl "$@"
    else
        cp "$settings" "$work/.env"
        (cd "$work" && DATABASE_PATH="$data/chime.db" "$chime" "$@")
    fi
}

uninstall() {
    if [ -n "$has_systemd" ]; then systemctl disable --now chime 2>/dev/null || true; fi
    if [ -n "$root" ]; then
        # The files of a package, which dpkg does not know below a folder.
        rm -rf "$root/usr/bin/chime" "$root/usr/sbin/chimectl" "$root/lib/systemd/system/chime.service" \
            "$root/usr/lib/systemd/system/chime.service" "$root/usr/share/doc/chime"
    elif dpkg -s chime >/dev/null 2>&1; then
        dpkg "${purge:---remove}" chime
    fi
    rm -f "$root/usr/local/bin/chime" "$root/usr/local/sbin/chimectl" "$unit"
    if [ -n "$has_systemd" ]; then systemctl daemon-reload; fi
    if [ -n "$purge" ]; then
        rm -rf "$root/etc/chime" "$data" "$root/var/lib/private/chime"
        echo "Chime, its settings and all its data are deleted."
    else
        echo "Chime is removed. Settings and data stay in $root/etc/chime and $data; --purge deletes them."
    fi
}

# Finds the binary or the package. Downloaded files must have the checksums that the release names.
find_release() {
    case $(uname -m) in
        x86_64 | amd64) name="chime-x86_64-linux" ;;
        aarch64 | arm64) name="chime-aarch64-linux" ;;
        *) name=chime ;;
    esac
    case ${source:=$here} in
        https://*)
            fetch "$source/SHA256SUMS" "$work/SHA256SUMS"
            for file in "$name" chimectl chime.service; do
                fetch "$source/$file" "$work/$file"
                (cd "$work" && grep " $file\$" SHA256SUMS | sha256sum --check --quiet -) || fail "$file: wrong checksum"
            done
            here=$work file=$work/$name ;;
        *)
            file=$source
            [ -d "$source" ] && file=$source/$name && here=$source
            [ -e "$file" ] || file=$source/chime
            [ -f "$file" ] || fail "there is no $name and no chime in $source" ;;
    esac
    case $file in
        *.deb) ;;
        *) for other in chimectl chime.service; do [ -f "$here/$other" ] || fail "there is no $other in $here"; done ;;
    esac
}

install_files() {
    install -d -m 755 "$root/usr/local/bin" "$root/usr/local/sbin" "$root/etc/systemd/system"
    case $file in
        *.deb)
            if [ -z "$root" ]; then
                dpkg --install --force-confold "$file"
            else
                dpkg-deb --fsys-tarfile "$file" | tar -x -C "$root" --exclude etc/chime/chime.env
            fi
            # A program that was installed without a package would go before it.
            rm -f "$root/usr/local/bin/chime" "$root/usr/local/sbin/chimectl" "$unit"
            chime=$root/usr/bin/chime ;;
        *)
            chime=$root/usr/local/bin/chime
            if [ -e "$chime" ]; then cp -p "$chime" "$work/chime.old"; fi
            # First beside it, so that a running program is not overwritten.
            install -m 755 "$file" "$chime.new" && mv "$chime.new" "$chime"
            install -m 755 "$here/chimectl" "$root/usr/local/sbin/chimectl"
            install -m 644 "$here/chime.service" "$unit" ;;
    esac
    if [ -n "$has_systemd" ]; then systemctl daemon-reload; fi
}

# Sets $1 to what is typed, unless it is set or nobody is there to type.
ask() {
    eval "given=\${$1:-}"
    if [ -z "$given" ] && [ -t 0 ]; then
        printf '%s: ' "$2" >&2
        read -r given || fail "stopped"
        eval "$1=\$given"
    fi
}

# The same for a secret, which is not shown while it is typed.
ask_secret() {
    eval "given=\${$1:-}"
    [ -z "$given" ] && [ -t 0 ] || return 0
    stty -echo
    ask "$1" "$2, not shown"
    stty echo
    echo >&2
}

find_model_server() {
    for server in $LOCAL_SERVERS; do
        # Models that make vectors do not answer.
        models=$(curl --silent --max-time 3 "$server/models" 2>/dev/null | grep -o '"id": *"[^"]*"' | cut -d'"' -f4 |
            grep -vi embed) || continue
        first=$(echo "$models" | head -1)
        echo "A model server is at $server, with these models:"
        echo "$models" | sed 's/^/  /'
        ask MODEL "Model (empty: $first; other: another server)"
        [ "${MODEL:=$first}" != other ] || { MODEL=''; break; }
        OPENAI_BASE_URL=$server
        echo "Using $MODEL."
        return
    done
    ask OPENAI_BASE_URL "Address of an OpenAI-compatible server, such as https://api.openai.com/v1 (empty: no model)"
    [ -n "${OPENAI_BASE_URL:-}" ] || return 0
    ask_secret OPENAI_API_KEY "Key for it (empty: none)"
    ask MODEL "Model, by the name that the server has for it"
}

write_settings() {
    ask_secret TELEGRAM_BOT_TOKEN "Bot token, from @BotFather"
    [ -n "${TELEGRAM_BOT_TOKEN:-}" ] || fail "TELEGRAM_BOT_TOKEN is not set"
    [ -n "${OPENAI_BASE_URL:-}${OPENAI_API_KEY:-}" ] || find_model_server
    {
        echo "# Settings of Chime. All of them: docs/configuration.md"
        for name in $SETTINGS; do
            eval "value=\${$name:-}"
            if [ -n "$value" ]; then echo "$name=$value"; fi
        done
    } >"$work/chime.env"
    install -d -m 700 "$root/etc/chime"
    install -m 600 "$work/chime.env" "$settings"
    echo "Settings are in $settings."
}

# Checks the settings, and notes in $work/check what was found.
is_well() {
    rm -f "$work/well"
    { run_chime check && : >"$work/well"; } | tee "$work/check"
    [ -e "$work/well" ]
}

# Drops the answers with which the check failed, or all if it was something else, so that they are asked for again.
drop_wrong_answers() {
    of_token='^FAIL +(telegram|config: TELEGRAM_BOT_TOKEN)' of_model='^FAIL +(model|config: (OPENAI|MODEL))'
    grep -Eq "$of_token|$of_model" "$work/check" || { TELEGRAM_BOT_TOKEN='' OPENAI_BASE_URL='' OPENAI_API_KEY='' MODEL=''; }
    if grep -Eq "$of_token" "$work/check"; then TELEGRAM_BOT_TOKEN=''; fi
    if grep -Eq "$of_model" "$work/check"; then OPENAI_BASE_URL='' OPENAI_API_KEY='' MODEL=''; fi
}

install_or_upgrade() {
    find_release
    if [ -e "$data/chime.db" ] && chime=$(PATH="$root/usr/local/bin:$root/usr/bin:$PATH" command -v chime); then
        # With this name it is listed by `chime restore`, deleted after a month, and by a member's wish to be forgotten.
        # The copy still contains what is forgotten while it is being made, so its name has the time when it was
        # finished, and before that a time far in the future. The number distinguishes two copies in one second.
        copy=$data/chime.db.before-vnext$$-99991231-235959
        run_chime backup "$copy" >/dev/null || fail "the database could not be copied, so nothing was changed"
        named=${copy%-*-*}-$(date -u +%Y%m%d-%H%M%S)
        mv "$copy" "$named"
        echo "The database is copied to $named."
    fi
    answered=''
    grep -q '^TELEGRAM_BOT_TOKEN=.' "$settings" 2>/dev/null || { write_settings; answered=yes; }
    install_files
    [ -n "$has_systemd" ] || install -d -m 700 "$data"
    until is_well; do
        if [ -n "$answered" ] && [ -t 0 ]; then
            echo "Something above says FAIL. Answer again; or leave with Ctrl-C, correct $settings, and run this again."
            drop_wrong_answers
            write_settings
            continue
        fi
        if [ -e "$work/chime.old" ]; then
            mv "$work/chime.old" "$chime"
            fail "the check of the new program failed; the old one is back. If nothing above says FAIL, the new one is broken; else correct $settings, then run this again"
        fi
        fail "correct $settings, then run this again"
    done
    if [ -z "$has_systemd" ]; then
        echo "Installed. Without systemd, start it: cd '$data' && ln -sf '$settings' .env && '$chime' run"
        return
    fi
    systemctl enable --quiet chime
    systemctl restart chime
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        systemctl is-active --quiet chime && break
        sleep 1
    done
    systemctl is-active --quiet chime || fail "it did not start: journalctl -u chime -n 20"
    # The log may take a moment.
    start=$(systemctl show --value --property=InvocationID chime)
    for _ in 1 2 3; do
        if journalctl _SYSTEMD_INVOCATION_ID="$start" --output=cat | grep -A1 'Nobody owns this bot'; then
            echo "Then add the bot to your group, and tag it."
            return
        fi
        sleep 1
    done
    echo "Chime runs. Add the bot to a group, and tag it."
}

if [ "$action" = uninstall ]; then uninstall; else install_or_upgrade; fi
