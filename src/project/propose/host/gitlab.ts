import { z } from 'zod';
import type { GitHostApi, HostInput, RequestText } from './git-host.ts';

const requestSchema = z
  .object({ iid: z.int(), web_url: z.url({ protocol: /^https?$/ }) })
  .transform(({ iid: number, web_url: url }) => ({ number, url }));
const listedSchema = z.object({ source_project_id: z.int().nullish(), target_project_id: z.int() });
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
      const found = await ask({ path, query }, z.array(listedSchema.and(requestSchema)));
      // A fork can have a branch of the same name, with the files of somebody else.
      return found.find((own) => own.source_project_id === own.target_project_id);
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
