import type { ApiAnswer, ApiRequest, HostState, KeptRequest } from './server.ts';

/** Projects and merge requests of the REST API of GitLab. */
export function answerGitlab({ method, url, json }: ApiRequest, host: HostState): ApiAnswer {
  const { repository, requests } = host;
  const project = `/api/v4/projects/${encodeURIComponent(repository)}`;
  const path = url.pathname;
  if (method === 'GET' && path === project)
    return { status: 200, json: { id: 1, path_with_namespace: repository } };
  const query = url.searchParams;
  if (path === `${project}/merge_requests`) {
    if (method === 'GET') {
      const found = requests.filter(
        ({ branch, base, state }) =>
          query.get('source_branch') === branch &&
          query.get('target_branch') === base &&
          query.get('state') === (state === 'open' ? 'opened' : state),
      );
      return { status: 200, json: found.map((own) => shown(own, host)) };
    }
    return method === 'POST' ? create(json, host) : { status: 404, json: { error: '404' } };
  }
  const number = Number(path.split('/').at(-1));
  const found = requests.find((own) => own.number === number);
  if (!path.startsWith(`${project}/merge_requests/`) || found === undefined)
    return { status: 404, json: { message: '404 Not found' } };
  if (method === 'PUT') Object.assign(found, { title: json['title'], body: json['description'] });
  return { status: 200, json: shown(found, host) };
}

function create(json: ApiRequest['json'], host: HostState): ApiAnswer {
  const { requests, hasBranch } = host;
  const [branch, base] = [String(json['source_branch']), String(json['target_branch'])];
  if (!hasBranch(branch) || !hasBranch(base))
    return { status: 400, json: { message: ['Source branch does not exist'] } };
  if (requests.some((own) => own.branch === branch && own.state === 'open' && !own.isFork))
    return { status: 409, json: { message: ['Another open merge request already exists'] } };
  const text = { title: String(json['title']), body: String(json['description']) };
  const made: KeptRequest = { number: requests.length + 1, state: 'open', branch, base, ...text };
  requests.push(made);
  return { status: 201, json: shown(made, host) };
}

function shown({ number, state, title, body, branch, isFork }: KeptRequest, host: HostState) {
  return {
    iid: number,
    state: state === 'open' ? 'opened' : state,
    web_url: `${host.url}/${host.repository}/-/merge_requests/${number}`,
    title,
    description: body,
    source_branch: branch,
    source_project_id: isFork ? 2 : 1,
    target_project_id: 1,
  };
}
