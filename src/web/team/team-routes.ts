import type { ToolEffect } from '../../llm/port/tool-call.ts';
import { type PageRoute, pageRoutes } from '../page-routes.ts';

/** A route of the page behind the login of a server: it needs the scope of its effect. */
export interface TeamRoute extends PageRoute {
  readonly effect: ToolEffect;
}

interface TeamRouteSpec {
  readonly effect: ToolEffect;
  /** True if the command shows more to the person of this machine than to others. */
  readonly isForAll?: false;
}

const reading = { effect: 'context' } as const;
const readingVisible = { effect: 'context', isForAll: false } as const;
const deciding = { effect: 'write', isForAll: false } as const;

const specs: Readonly<Record<string, TeamRouteSpec>> = {
  '/api/status': readingVisible,
  '/api/review': readingVisible,
  '/api/datasets': reading,
  '/api/dataset': readingVisible,
  '/api/graph': reading,
  '/api/dimensions': reading,
  '/api/explain': readingVisible,
  '/api/search': reading,
  '/api/query': { effect: 'query' },
  '/api/review/choose': deciding,
  '/api/review/edit': deciding,
  '/api/review/defer': deciding,
  '/api/review/accept': deciding,
  '/api/review/reject': deciding,
  '/api/review/undo': deciding,
};

/**
 * By path. The others of the page show what people asked, what evals found with the role of whoever
 * ran them, and what the company pays: they are for the person who runs ktx.
 */
export const teamRoutes: Readonly<Record<string, TeamRoute>> = Object.fromEntries(
  Object.entries(specs).flatMap(([path, { effect, isForAll = true }]) => {
    const route = pageRoutes[path];
    if (route === undefined) return [];
    const toCommand: PageRoute['toCommand'] = (input) => {
      const [name = '', ...rest] = route.toCommand(input) ?? [];
      if (name === '') return undefined;
      return isForAll ? [name, ...rest] : withVisibleFlag([name, ...rest]);
    };
    return [[path, { ...route, toCommand, effect }] as const];
  }),
);

/** Before `--`, behind which every word is an argument. */
function withVisibleFlag(command: readonly string[]): readonly string[] {
  const at = command.indexOf('--');
  const end = at === -1 ? command.length : at;
  return [...command.slice(0, end), '--visible', ...command.slice(end)];
}
