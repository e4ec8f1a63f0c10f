#!/bin/sh
# Answers git, which asks for a user name first and then for a password.
case "$1" in
  Username*) echo x-access-token ;;
  *) cat "$KTX_GIT_TOKEN_FILE" ;;
esac
