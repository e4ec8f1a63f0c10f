import { z } from 'zod';
import type { GitHostApi, HostInput, RequestText } from './git-host.ts';

const pullSchema = z
  .object({ number: z.int(), html_url: z.url({ protocol: /^https?$/ }) })
  .transform(({ number, html_url: url }) => ({ number, url }));
const stateSchema = z.object({ state: z.string(), merged_at: z.string().nullish() });

/** Pull requests of GitHub, over its REST API. */
export function openGithub({ repository, base, ask }: HostInput): GitHostApi {
  const path = `repos/${repository}`;
  const [owner = ''] = repository.split('/');
  const textOf = ({ title, body }: RequestText) => ({ title, body });
  return {
    async check() {
      await ask({ path }, z.object({}));
    },
    async findOpen(branch) {
      const query = [
        ['state', 'open'],
        ['head', `${owner}:${branch}`],
        ['base', base],
      ] as const;
      const [found] = await ask({ path: `${path}/pulls`, query }, z.array(pullSchema));
      return found;
    },
    create: (text) => {
      const json = { ...textOf(text), head: text.branch, base };
      return ask({ path: `${path}/pulls`, json }, pullSchema);
    },
    update: (number, text) =>
      ask({ method: 'PATCH', path: `${path}/pulls/${number}`, json: textOf(text) }, pullSchema),
    async readState(number) {
      const pull = await ask({ path: `${path}/pulls/${number}` }, stateSchema);
      if (pull.state === 'open') return 'open';
      return typeof pull.merged_at === 'string' ? 'merged' : 'closed';
    },
  };
}
