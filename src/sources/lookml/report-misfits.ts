import type { LookmlModel } from '../../semantic/formats/lookml/read.ts';
import type { ClaimCollector } from '../claim-collector.ts';

/**
 * What the reader could not take over: a problem where something that people ask for is missing or
 * means something else, or a statement left out where ktx has no place for it.
 */
export function reportMisfits(misfits: LookmlModel['misfits'], collector: ClaimCollector): void {
  for (const { at, message, place } of misfits) {
    const item = { key: place.file, line: place.line };
    const what = at.slice(`${place.file}:${place.line}: `.length);
    const [, keys] = /^not read: ((?:\w+(?:, )?)+)$/.exec(message) ?? [];
    if (message === noEquivalent) collector.leaveOut(item, what.split(' ')[0] ?? what);
    else if (keys === undefined) collector.addProblem(item, `${what}: ${message}`);
    else for (const key of keys.split(', ')) collector.leaveOut(item, key);
  }
}

const noEquivalent = 'not read: ktx has no equivalent';
