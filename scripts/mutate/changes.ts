import type { Mutant } from './mutant.ts';

const tests = ['mcp/changes.test.ts'];

/** Faults of changes that a team proposes on branches. */
export const changeMutants: readonly Mutant[] = [
  {
    name: 'changes-silent-commit',
    file: 'mcp/http/callers.ts',
    find: "proposes: opened.config.serve.changes === 'pull_request'",
    replace: 'proposes: false',
    why: 'A note through the server changes the base, and nobody reviews it.',
    tests,
  },
  {
    name: 'changes-author',
    file: 'store/commit/commit.ts',
    find: 'if (author !== undefined) return named(await commitAs([], [], identityOf(author)));',
    replace: '',
    why: 'The commit is in the name of whoever runs the server.',
    tests,
  },
  {
    name: 'changes-address',
    file: 'project/propose/propose-change.ts',
    find: "name.replace(/@.*$/s, '')",
    replace: 'name',
    why: 'The address of a person is in the history for good.',
    tests,
  },
  {
    name: 'changes-others-branch',
    file: 'project/propose/propose-change.ts',
    find: 'if (tip !== undefined) await requireOwnTip(',
    replace: 'if (tip === undefined) await requireOwnTip(',
    why: 'What a reviewer has pushed to the branch is overwritten.',
    tests,
  },
  {
    name: 'changes-lost',
    file: 'project/propose/propose-change.ts',
    find: 'if (!(error instanceof HostFault)) throw error;',
    replace: 'throw error;',
    why: 'A host that is away ends in an error, and nobody learns that the note is kept.',
    tests,
  },
  {
    name: 'changes-quote',
    file: 'project/propose/change-text.ts',
    find: "const fence = '`'.repeat(longest + 1);",
    replace: "const fence = '```';",
    why: 'A note closes its quotation and gives the host commands in the name of the token.',
    tests,
  },
  {
    name: 'changes-argument',
    file: 'store/remote-git.ts',
    find: 'await gitOutput(root, [...quietSettings, ...args(url)], { env, signal })',
    replace:
      'await gitOutput(root, [...quietSettings, ...args(url.replace("://", `://${remote.user}:${token}@`))], { signal, env: { GIT_ALLOW_PROTOCOL: "http" } })',
    why: 'Every process of the machine sees the token in the arguments of git.',
    tests,
  },
  {
    name: 'changes-inbox',
    file: 'project/propose/workspace.ts',
    find: 'rmSync(ensureStateDirectory(dir).notes, { recursive: true, force: true });',
    replace: '',
    why: 'A note that failed half-way becomes part of the change of somebody else.',
    tests,
  },
  {
    name: 'changes-way',
    file: 'store/remote-git.ts',
    find: '  if (at === -1) return;',
    replace: '  if (at !== -2) return;',
    why: 'A copied repository leads the token to a server of its own.',
    tests: ['store/remote-git.test.ts'],
  },
  {
    name: 'changes-fork',
    file: 'project/propose/host/gitlab.ts',
    find: 'own.source_project_id === own.target_project_id',
    replace: 'own.number > 0',
    why: 'The request of a fork gets the text of a change, and stands as its request.',
    tests,
  },
];
