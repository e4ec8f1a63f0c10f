import { z } from 'zod';
import type { GitHostApi, HostInput, RequestText } from './git-host.ts';

const pullSchema = z
  .object({ number: z.int(), html_url: z.url({ protocol: /^https?$/ }) })
  .transform(({ number, html_url: url }) => ({ number, url }));
const repositorySchema = z.object({ full_name: z.string() });
const listedSchema = z.object({
  head: z.object({ repo: repositorySchema.nullish() }),
  base: z.object({ repo: repositorySchema }),
});
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
      const schema = z.array(listedSchema.and(pullSchema));
      const found = await ask({ path: `${path}/pulls`, query }, schema);
      // A fork of the same owner can have a branch of the same name, with other files.
      return found.find(({ head, base: to }) => head.repo?.full_name === to.repo.full_name);
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
