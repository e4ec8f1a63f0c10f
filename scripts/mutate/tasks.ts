import type { Mutant } from './mutant.ts';

const tests = ['mcp/tasks.test.ts'];

/** Faults of calls that become tasks. */
export const taskMutants: readonly Mutant[] = [
  {
    name: 'tasks-of-all',
    file: 'mcp/http/callers.ts',
    find: 'tasks: input.tasks(owner)',
    replace: "tasks: input.tasks('')",
    why: 'Whoever knows the id of a task reads the answer of another caller, and cancels it.',
    tests,
  },
  {
    name: 'tasks-unwanted',
    file: 'mcp/tasks/task-methods.ts',
    find: 'return declaresTasks(envelope);',
    replace: 'return envelope !== undefined || declaresTasks(envelope);',
    why: 'A client that takes no tasks gets one, and never the answer.',
    tests,
  },
  {
    name: 'tasks-without-scope',
    file: 'mcp/server.ts',
    find: 'tool.takesLong(input) && caller.mayUse(tool.effect)',
    replace: 'tool.takesLong(input)',
    why: 'A caller who may not write begins tasks.',
    tests,
  },
  {
    name: 'tasks-uncancelled',
    file: 'mcp/tasks/task-table.ts',
    find: 'cancel: () => stop.abort()',
    replace: 'cancel: () => undefined',
    why: 'An ingest that was cancelled goes on and commits.',
    tests,
  },
  {
    name: 'tasks-forgotten',
    file: 'mcp/http/serve-http.ts',
    find: 'const tasks = openTaskTables(ended.signal);',
    replace: 'const tasks = () => openTaskTables(ended.signal)(``);',
    why: 'A changed ktx.yaml loses the tasks that run, and their results.',
    tests,
  },
  {
    name: 'tasks-short',
    file: 'tools/ingest.ts',
    find: 'const longest = isAwaited ? longestTimer : wait * 1000;',
    replace: 'const longest = wait * 1000;',
    why: 'A task is done while its ingest still runs.',
    tests,
  },
];
