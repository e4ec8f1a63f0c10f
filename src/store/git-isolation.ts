import { UserError } from '../lib/error.ts';

/**
 * Settings for every call. They override those of a person and of a repository, so that git runs no
 * program, signs nothing, rewrites nothing, and uses no repository that lies among the files of
 * another one.
 */
export const overrides: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'i18n.commitEncoding=UTF-8',
  'advice.defaultBranchName=false',
  'core.safecrlf=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'safe.bareRepository=explicit',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/**
 * The variables of git that a person may have set: identity, settings, access to servers, traces.
 * All others would lead git to another repository (a hook that runs ktx sets such), or run a
 * program.
 */
const ownVariables =
  /^GIT_(?:AUTHOR_|COMMITTER_|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_|VALUE_)|SSH|ASKPASS|SSL_|HTTP_|PROXY_|CEILING_|DISCOVERY_|TEST_|TRACE|CURL_VERBOSE)/;

/**
 * The C library of Linux gives the memory of each file back to the system, and asks for it again:
 * nine tenths of what it takes git to add thousands of files. Other systems ignore these.
 */
const memoryKeeping = { MALLOC_TRIM_THRESHOLD_: '67108864', MALLOC_TOP_PAD_: '16777216' };

/**
 * The environment of a call. Without protocols, git reaches no other repository, so that a missing
 * object starts no program.
 */
export function gitEnvironment(): Readonly<Record<string, string | undefined>> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GIT_') || ownVariables.test(name),
  );
  return {
    ...memoryKeeping,
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'true',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/**
 * Options that switch filters off: programs that change files on their way. Throws for a name that
 * git would read differently.
 */
export function withoutFilters(filters: readonly string[]): readonly string[] {
  const strange = filters.find((name) => name.includes('='));
  if (strange !== undefined) {
    throw new UserError(
      'git_filter',
      `git has a filter with the name ${JSON.stringify(strange)}.`,
      {
        hint: 'Remove the filter from the settings of git, or rename it: a name without =.',
        exitCode: 2,
      },
    );
  }
  return filters.flatMap((name) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((setting) => [
      '-c',
      `filter.${name}.${setting}`,
    ]),
  );
}
