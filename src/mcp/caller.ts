import { randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import PQueue from 'p-queue';
import type { UserError } from '../lib/error.ts';
import type { ToolEffect } from '../llm/port/tool-call.ts';
import type { Project } from '../project/open/open.ts';
import type { Tool } from '../tools/tool.ts';
import { openToolbox } from '../tools/toolbox.ts';
import type { WarehouseSignIns } from './sign-in/warehouse-sign-ins.ts';
import { openTaskTable, type TaskTable } from './tasks/task-table.ts';
import { recordNothing, type RecordCall } from './audit/record-calls.ts';

/** Whether a call may run. Whoever admits one gets to know when it ended, and its size. */
type Admission =
  | { readonly kind: 'refused'; readonly error: UserError }
  | { readonly kind: 'admitted'; readonly release: (bytes: number) => void | Promise<void> };

/** Who asks: a client of stdio, or everyone with one token. Nothing is shared between callers. */
export interface Caller {
  /** The name of the token; undefined without login. */
  readonly name: string | undefined;
  /** The project as the role of the caller sees it. */
  readonly project: Project;
  /** Also holds the last answers, so that a cursor of this caller can continue them. */
  readonly toolbox: ReturnType<typeof openToolbox>;
  /** The calls that run and wait. */
  readonly calls: PQueue;
  readonly mayUse: (effect: ToolEffect) => boolean;
  /** Whether the list of tools has those of this kind. */
  readonly mayOffer: (effect: ToolEffect) => boolean;
  readonly admit: (tool: Pick<Tool, 'name' | 'effect'>) => Admission | Promise<Admission>;
  /** Seals what a client keeps for ktx while it asks its user. Opens only for this caller. */
  readonly states: ReturnType<typeof createRequestStateCodec>;
  /** Opens the record of a call, without which nothing is answered. */
  readonly record: RecordCall;
  /** Calls that go on when their request has been answered. */
  readonly tasks: TaskTable;
  /** Undefined where nobody can sign in at a warehouse. */
  readonly signIns: Pick<WarehouseSignIns, 'settled'> | undefined;
}

/** Is the caller that `find` gives at each use: for a session that outlives a configuration. */
export function latestCaller(find: () => Caller): Caller {
  return {
    get name() {
      return find().name;
    },
    get project() {
      return find().project;
    },
    get toolbox() {
      return find().toolbox;
    },
    get calls() {
      return find().calls;
    },
    get states() {
      return find().states;
    },
    get tasks() {
      return find().tasks;
    },
    get signIns() {
      return find().signIns;
    },
    mayUse: (effect) => find().mayUse(effect),
    mayOffer: (effect) => find().mayOffer(effect),
    admit: (tool) => find().admit(tool),
    record: (asked) => find().record(asked),
  };
}

/** More calls than these wait. Each can hold an answer of up to a megabyte. */
const mostCallsAtOnce = 32;

/** A caller who may use every tool, unless the options say otherwise. */
export function openCaller(
  project: Project,
  options: Partial<
    Pick<
      Caller,
      'name' | 'mayUse' | 'mayOffer' | 'admit' | 'record' | 'states' | 'tasks' | 'signIns'
    >
  > = {},
): Caller {
  return {
    name: undefined,
    signIns: undefined,
    mayUse: () => true,
    mayOffer: () => true,
    admit: () => ({ kind: 'admitted', release: () => undefined }),
    record: recordNothing,
    states: options.states ?? createRequestStateCodec({ key: randomBytes(32) }),
    tasks: options.tasks ?? openTaskTable(new AbortController().signal),
    ...options,
    project,
    toolbox: openToolbox(project, { caller: options.name }),
    calls: new PQueue({ concurrency: mostCallsAtOnce }),
  };
}
