#!/bin/sh
# Starts the MCP server on a project that is kept in git, or runs another command of ktx on it:
#   start.sh                                 serves, and follows the repository
#   start.sh mcp token create ann --role us  makes a token
# What it reads: KTX_GIT_URL, KTX_GIT_BRANCH, KTX_GIT_SECONDS, KTX_GIT_TOKEN_FILE, KTX_PROJECT_DIR,
# KTX_HOST, KTX_PORT, KTX_ALLOW_HOST (names with spaces between them), KTX_SERVE_FLAGS.
set -eu

project="${KTX_PROJECT_DIR:-/data/project}"
export GIT_TERMINAL_PROMPT=0
if [ -n "${KTX_GIT_TOKEN_FILE:-}" ]; then
  GIT_ASKPASS="$(dirname "$0")/git-token.sh"
  export GIT_ASKPASS
fi

if [ ! -e "$project/.git" ]; then
  : "${KTX_GIT_URL:?set it to the repository of the project}"
  git clone --quiet ${KTX_GIT_BRANCH:+--branch "$KTX_GIT_BRANCH"} "$KTX_GIT_URL" "$project"
fi
cd "$project"

if [ "$#" -gt 0 ]; then
  exec ktx "$@"
fi

# Ends with the server, which keeps the number of this process.
follow() {
  while sleep "${KTX_GIT_SECONDS:-60}" && kill -0 "$1" 2>/dev/null && [ -e .git ]; do
    git pull --ff-only --quiet ||
      echo "git pull failed; the server goes on with what it has." >&2
  done
}
follow "$$" &

# Names and flags are words on purpose.
# shellcheck disable=SC2086
exec ktx mcp serve --http \
  --host "${KTX_HOST:-127.0.0.1}" --port "${KTX_PORT:-7878}" \
  ${KTX_ALLOW_HOST:+--allow-host $KTX_ALLOW_HOST} ${KTX_SERVE_FLAGS:-}
