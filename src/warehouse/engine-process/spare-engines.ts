import { type EngineChild, type EngineProgram, launchEngine } from './engine-child.ts';

/** How long a process without work waits for the next database. */
const idleMs = 60_000;

interface SpareEngine {
  readonly child: EngineChild;
  readonly timer: NodeJS.Timeout;
}

/**
 * One process per program that has no database open: it was started ahead of its use, or its last
 * connection was closed.
 */
const spares = new Map<EngineProgram, SpareEngine>();

/**
 * Starts the program if no spare process of it is there, so that the next `takeEngine` does not
 * have to wait.
 */
export function startEngineAhead(program: EngineProgram): void {
  if (isReady(spares.get(program)?.child)) return;
  keepSpare(program, launchEngine(program));
}

/** A process without an open database. */
export function takeEngine(program: EngineProgram): EngineChild {
  const spare = spares.get(program);
  spares.delete(program);
  clearTimeout(spare?.timer);
  return spare !== undefined && isReady(spare.child) ? spare.child : launchEngine(program);
}

/**
 * Takes back a process whose database is closed: it waits for the next one, or ends if another
 * already waits.
 */
export function giveEngineBack(program: EngineProgram, child: EngineChild): void {
  if (child.hasEnded() || spares.get(program)?.child === child) return;
  if (isReady(spares.get(program)?.child)) child.kill();
  else keepSpare(program, child);
}

function keepSpare(program: EngineProgram, child: EngineChild): void {
  clearTimeout(spares.get(program)?.timer);
  const timer = setTimeout(() => {
    spares.delete(program);
    child.kill();
  }, idleMs);
  timer.unref();
  spares.set(program, { child, timer });
}

function isReady(child: EngineChild | undefined): boolean {
  return child !== undefined && !child.hasEnded();
}
