import { z } from 'zod';
import { baseUrlSchema } from '../../../sources/http/config.ts';
import { secretSchema } from '../../../store/secrets.ts';

/**
 * `owner/name`, at GitLab also with groups in between; nothing that a shell or a URL would read.
 */
const repositorySchema = z
  .string()
  .max(300)
  .regex(/^(?:[\w.-]+\/)+[\w.-]+$/, 'the owner and the name, such as acme/data')
  .refine(
    (path) => path.split('/').every((part) => !/^[.-]|\.git$/.test(part)),
    'no part begins with a dot or a hyphen, or ends in .git',
  );

const branchSchema = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_][\w.\-/]*$/, 'the name of a branch, such as main')
  .refine((name) => !/\.\.|\/\/|\/$|\.lock$|\.$|\/\./.test(name), 'git takes no such name');

/** Where the changes of a team are proposed. */
export const gitHostConfigSchema = z
  .strictObject({
    host: z.enum(['github', 'gitlab']).describe('Which API the host speaks.'),
    url: baseUrlSchema('serve.git.token')
      .optional()
      .describe('The address of a host of your own. Default: github.com or gitlab.com.'),
    repository: repositorySchema.describe('The owner and the name: acme/data.'),
    base: branchSchema.default('main').describe('The branch that changes are proposed for.'),
    token: secretSchema.describe(
      'Reference to a token that may push branches and open pull requests or merge requests.',
    ),
    allow_private: z
      .boolean()
      .optional()
      .describe('True if the host has an address in your own network.'),
  })
  .describe('With `changes: pull_request`: the host, and the repository that this project is in.');
export type GitHostConfig = z.infer<typeof gitHostConfigSchema>;

const addresses = { github: 'https://github.com', gitlab: 'https://gitlab.com' } as const;

/** The address of the host, without a slash at the end. */
export function gitHostAddress({ host, url }: Pick<GitHostConfig, 'host' | 'url'>): string {
  return (url ?? addresses[host]).replace(/\/+$/, '');
}
