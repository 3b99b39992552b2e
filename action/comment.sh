#!/usr/bin/env bash
# Puts the review into one comment of the pull request: found by its marker and its author, updated in place, never repeated.
#
# On `workflow_run` the comment was written by a workflow without rights, and is passed in a file. Its content is text, whatever it says;
# which pull request it belongs to is asked of GitHub, not of the file.
set -euo pipefail

marker='<!-- outcrop:review -->'

give_up() {
  echo "::warning title=outcrop::no comment was written: $1"
  exit 0
}

[ -n "${GH_TOKEN:-}" ] || give_up "the input github-token is empty"
[ -s "$COMMENT_FILE" ] || give_up "there is no review to write"
command -v gh >/dev/null || give_up "this runner has no gh"

event() { jq -r "$1 // empty" "$GITHUB_EVENT_PATH"; }

case $GITHUB_EVENT_NAME in
  pull_request | pull_request_target) number=$(event .number) ;;
  workflow_run)
    # The last commit is the only thing that a fork cannot choose freely: it must be the head of an open pull request.
    owner=$(event .workflow_run.head_repository.owner.login) branch=$(event .workflow_run.head_branch) sha=$(event .workflow_run.head_sha)
    number=$(gh api --method GET "repos/$GITHUB_REPOSITORY/pulls" -f state=open -f "head=$owner:$branch" |
      jq -r --arg sha "$sha" 'map(select(.head.sha == $sha))[0].number // empty')
    ;;
  *) give_up "the event $GITHUB_EVENT_NAME belongs to no pull request" ;;
esac
[[ $number =~ ^[0-9]+$ ]] || give_up "the pull request of this run is not open, or has new commits"

# Comments have at most 65536 characters; outcrop writes fewer. The file of another workflow may hold anything.
body=$(head -c 250000 "$COMMENT_FILE" | iconv -f utf-8 -t utf-8 -c)
body=$marker$'\n'${body:0:60000}

comments=repos/$GITHUB_REPOSITORY/issues/$number/comments
me=$(gh api graphql -f query='query { viewer { login } }' --jq .data.viewer.login) || me='github-actions[bot]'
me=${me%\[bot\]}
mine=$(gh api --paginate "$comments" |
  jq -rs --arg marker "$marker" --arg me "$me" \
    '(add // []) | map(select((.body | startswith($marker)) and (.user.login | rtrimstr("[bot]")) == $me))[0].id // empty') ||
  give_up "the comments cannot be read; the job needs the permission pull-requests: write"

if [ -n "$mine" ]; then
  jq -n --arg body "$body" '{body: $body}' | gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$mine" --input - >/dev/null ||
    give_up "the comment cannot be changed; the job needs the permission pull-requests: write"
else
  jq -n --arg body "$body" '{body: $body}' | gh api --method POST "$comments" --input - >/dev/null ||
    give_up "the comment cannot be written; the job needs the permission pull-requests: write, which pull requests of forks do not get"
fi
