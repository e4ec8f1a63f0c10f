import type { ApiAnswer, ApiRequest, HostState, KeptRequest } from './server.ts';

const refuse = (message: string, status = 422): ApiAnswer => ({ status, json: { message } });

/** Repositories and pulls of the REST API of GitHub, as a server of one's own has it. */
export function answerGithub({ method, url, headers, json }: ApiRequest, host: HostState) {
  const { repository, requests } = host;
  if (headers['x-github-api-version'] !== '2022-11-28')
    return refuse('the API version is not supported', 400);
  if (headers['user-agent'] === undefined) return refuse('a User-Agent is required', 403);
  const path = url.pathname.replace('/api/v3', '');
  const [owner] = repository.split('/');
  if (method === 'GET' && path === `/repos/${repository}`)
    return { status: 200, json: { full_name: repository, default_branch: 'main' } };
  if (path === `/repos/${repository}/pulls`) {
    if (method === 'GET') {
      const found = requests.filter(
        ({ branch, base, state }) =>
          url.searchParams.get('head') === `${owner}:${branch}` &&
          url.searchParams.get('base') === base &&
          url.searchParams.get('state') === state,
      );
      return { status: 200, json: found.map((pull) => shown(pull, host)) };
    }
    return method === 'POST' ? create(json, host) : refuse('Not Found', 404);
  }
  const number = Number(path.split('/').at(-1));
  const pull = requests.find((own) => own.number === number);
  if (!path.startsWith(`/repos/${repository}/pulls/`) || pull === undefined)
    return refuse('Not Found', 404);
  if (method === 'PATCH') Object.assign(pull, { title: json['title'], body: json['body'] });
  return { status: 200, json: shown(pull, host) };
}

function create(json: ApiRequest['json'], host: HostState): ApiAnswer {
  const { requests, hasBranch } = host;
  const [branch, base] = [String(json['head']), String(json['base'])];
  if (!hasBranch(branch) || !hasBranch(base)) return refuse('Validation Failed: head is invalid');
  if (requests.some((own) => own.branch === branch && own.state === 'open' && !own.isFork))
    return refuse('A pull request already exists for this branch');
  const text = { title: String(json['title']), body: String(json['body']) };
  if (text.body.length > 65_536) return refuse('body is too long (maximum is 65536 characters)');
  const pull: KeptRequest = { number: requests.length + 1, state: 'open', branch, base, ...text };
  requests.push(pull);
  return { status: 201, json: shown(pull, host) };
}

function shown({ number, state, title, body, branch, isFork }: KeptRequest, host: HostState) {
  return {
    number,
    state: state === 'open' ? 'open' : 'closed',
    merged_at: state === 'merged' ? '2026-11-01T10:00:00Z' : null,
    html_url: `${host.url}/${host.repository}/pull/${number}`,
    title,
    body,
    head: { ref: branch, repo: { full_name: isFork ? 'acme/fork' : host.repository } },
    base: { repo: { full_name: host.repository } },
  };
}
