import { z } from 'zod';
import type { GitHostApi, HostInput, RequestText } from './git-host.ts';

const requestSchema = z
  .object({ iid: z.int(), web_url: z.url({ protocol: /^https?$/ }) })
  .transform(({ iid: number, web_url: url }) => ({ number, url }));
const stateSchema = z.object({ state: z.string() });

/** Merge requests of GitLab, over its REST API. */
export function openGitlab({ repository, base, ask }: HostInput): GitHostApi {
  const project = `projects/${encodeURIComponent(repository)}`;
  const path = `${project}/merge_requests`;
  const textOf = ({ title, body }: RequestText) => ({ title, description: body });
  return {
    async check() {
      await ask({ path: project }, z.object({}));
    },
    async findOpen(branch) {
      const query = [
        ['state', 'opened'],
        ['source_branch', branch],
        ['target_branch', base],
      ] as const;
      const [found] = await ask({ path, query }, z.array(requestSchema));
      return found;
    },
    create: (text) => {
      const places = { source_branch: text.branch, target_branch: base };
      const json = { ...textOf(text), ...places, remove_source_branch: true };
      return ask({ path, json }, requestSchema);
    },
    update: (number, text) =>
      ask({ method: 'PUT', path: `${path}/${number}`, json: textOf(text) }, requestSchema),
    async readState(number) {
      const { state } = await ask({ path: `${path}/${number}` }, stateSchema);
      return state === 'merged' || state === 'closed' ? state : 'open';
    },
  };
}
