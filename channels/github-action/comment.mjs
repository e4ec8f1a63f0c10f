// Writes one comment on a pull request, or rewrites the one that is there:
// node comment.mjs <output of ktx check --json> [<report of ktx eval run>]
import { existsSync, readFileSync } from 'node:fs';

const mark = '<!-- ktx -->';
const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, NUMBER } = process.env;
const comments = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues/${NUMBER}/comments`;

const [checkFile = '', evalFile = ''] = process.argv.slice(2);
const body = [mark, describeCheck(JSON.parse(readFileSync(checkFile, 'utf8')))];
if (existsSync(evalFile)) body.push(readFileSync(evalFile, 'utf8'));
const own = await findComment();
const address = own === undefined ? comments : own.url;
await ask(address, own === undefined ? 'POST' : 'PATCH', { body: body.join('\n\n') });

/** What `ktx check` found, with the fix that it names. */
function describeCheck({ ok, error }) {
  if (ok) return '**ktx check**: files are valid, nothing is contested or stale.';
  const hint = error?.hint === undefined ? '' : `\n\nFix: \`${error.hint}\``;
  return `**ktx check** failed: ${error?.message ?? 'no reason'}${hint}`;
}

async function findComment() {
  for (let page = 1; ; page += 1) {
    const found = await ask(`${comments}?per_page=100&page=${page}`, 'GET');
    const comment = found.find((candidate) => candidate.body?.startsWith(mark));
    if (comment !== undefined || found.length < 100) return comment;
  }
}

async function ask(url, method, content) {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'x-github-api-version': '2022-11-28',
    },
    body: content && JSON.stringify(content),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status}`);
  return response.json();
}
