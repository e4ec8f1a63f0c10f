import { shortHash } from '../../../src/lib/hash.ts';
import { startLoopbackServer, type WireAnswer, type WireRequest } from '../loopback-server.ts';
import { activity, dashboards, explores, folders, type Look, looks, models } from './fernholm.ts';

export const clientId = 'fernholm_id';
export const clientSecret = 'fernholm_secret';

/** A Looker on loopback: the wire of its API 4.0, for one company, with faults on demand. */
export async function startLooker() {
  const world = {
    looks: new Map(looks.map((look) => [look.id, look])),
    id: clientId,
    secret: clientSecret,
    explores: new Map(explores),
    pageSize: 2,
    hasActivity: true,
    /** Each login gives the next token; only the last one is valid. */
    logins: 0,
    /** Every answer, by the path of the specification. */
    answers: [] as { readonly path: string; readonly method: string; readonly json: unknown }[],
  };
  const server = await startLoopbackServer((request) => {
    const answer = answerTo(request, world);
    const path = specificationPath(request.url.pathname);
    if (answer.status === 200)
      world.answers.push({ path, method: request.method.toLowerCase(), json: answer.json });
    return answer;
  });
  return { ...server, world };
}

type World = Awaited<ReturnType<typeof startLooker>>['world'];

function specificationPath(pathname: string): string {
  return pathname
    .replace('/api/4.0', '')
    .replace(
      /^\/lookml_models\/[^/]+\/explores\/[^/]+$/,
      '/lookml_models/{lookml_model_name}/explores/{explore_name}',
    )
    .replace(/^\/looks\/\w*\d\w*$/, '/looks/{look_id}')
    .replace(/^\/dashboards\/\w*\d\w*$/, '/dashboards/{dashboard_id}')
    .replace('/run/json', '/run/{result_format}');
}

function answerTo({ url, method, headers, form, json }: WireRequest, world: World): WireAnswer {
  const path = decodeURIComponent(url.pathname.replace('/api/4.0/', ''));
  if (path === 'login' && method === 'POST') {
    const isKnown =
      form?.get('client_id') === world.id && form.get('client_secret') === world.secret;
    if (!isKnown)
      return { status: 404, json: { message: 'Not found', documentation_url: 'https://x' } };
    world.logins += 1;
    return found({ access_token: `token${world.logins}`, token_type: 'Bearer', expires_in: 3600 });
  }
  if (headers.authorization !== `token token${world.logins}`)
    return {
      status: 401,
      json: { message: 'Requires authentication.', documentation_url: 'https://x' },
    };
  const fixed: Readonly<Record<string, () => unknown>> = {
    versions: () => ({
      looker_release_version: '26.12',
      supported_versions: [{ version: '4.0' }],
    }),
    user: () => ({ id: '7', display_name: 'ktx reader' }),
    lookml_models: () => page(models, url, world),
    folders: () => folders,
  };
  const known = fixed[path];
  if (known !== undefined) return found(known());
  if (path === 'queries/run/json') return runActivity(json, world);
  return answerContent(path, url, world);
}

function answerContent(path: string, url: URL, world: World): WireAnswer {
  const [kind = '', id = '', , explore] = path.split('/');
  if (kind === 'lookml_models') return foundOr404(world.explores.get(`${id}/${explore}`));
  const all: readonly { id: string; deleted: boolean }[] =
    kind === 'looks' ? [...world.looks.values()] : dashboards;
  if (id !== 'search') return foundOr404(all.find((entry) => entry.id === id));
  const there = all.filter(({ deleted }) => !deleted);
  return found(page(there, url, world).map(searchResult));
}

function found(json: unknown): WireAnswer {
  return { status: 200, json };
}

function foundOr404(json: unknown): WireAnswer {
  return json === undefined
    ? { status: 404, json: { message: 'Not found', documentation_url: 'https://x' } }
    : found(json);
}

function page<T>(entries: readonly T[], { searchParams }: URL, { pageSize }: World): readonly T[] {
  const offset = Number(searchParams.get('offset') ?? 0);
  const limit = Number(searchParams.get('limit') ?? 100);
  // A page is shorter than asked only at the end, as in Looker.
  return limit < pageSize ? [] : entries.slice(offset, offset + limit);
}

function searchResult(entry: object) {
  const { id, deleted, folder, title, description, certification_metadata, query } =
    entry as Partial<Look>;
  // A look that is changed gets another query.
  const ofLook = query && { query_id: shortHash(JSON.stringify(query), 8) };
  return { id, deleted, folder, title, description, certification_metadata, ...ofLook };
}

function runActivity(json: unknown, { hasActivity }: World): WireAnswer {
  const { model, fields } = json as { model: string; fields: readonly string[] };
  if (!hasActivity || model !== 'system__activity')
    return { status: 404, json: { message: 'Not found', documentation_url: 'https://x' } };
  return found(activity[fields[0] ?? ''] ?? []);
}
