import type { ResponseScript, Step } from './response-script.ts';

/** The smallest script that `fails` still finds at fault: fewer steps, then simpler ones. */
export async function shrink(
  script: ResponseScript,
  fails: (script: ResponseScript) => Promise<boolean>,
): Promise<ResponseScript> {
  let smallest = script;
  for (;;) {
    const smaller = await firstThat(simplerScripts(smallest), fails);
    if (smaller === undefined) return smallest;
    smallest = smaller;
  }
}

async function firstThat(
  candidates: readonly ResponseScript[],
  fails: (script: ResponseScript) => Promise<boolean>,
): Promise<ResponseScript | undefined> {
  for (const candidate of candidates) if (await fails(candidate)) return candidate;
  return undefined;
}

/** Each is one change away, and smaller. */
function simplerScripts(script: ResponseScript): readonly ResponseScript[] {
  const { steps, afterwards, ...rest } = script;
  const without = steps.map((_, index) => ({ ...script, steps: steps.toSpliced(index, 1) }));
  const simpler = steps.flatMap((step, index) =>
    simplerSteps(step).map((one) => ({ ...script, steps: steps.with(index, one) })),
  );
  const ends = afterwards === undefined ? [] : [{ ...rest, steps: [...steps, afterwards] }];
  return [...without, ...ends, ...simpler];
}

function simplerSteps(step: Step): readonly Step[] {
  if (step.kind === 'drop') return [];
  if (step.kind === 'wording') {
    const { headers, ...bare } = step;
    return headers === undefined ? [] : [bare];
  }
  const { kind, blocks, ...extras } = step;
  const fewer = blocks.length > 1 ? blocks.map((_, at) => blocks.toSpliced(at, 1)) : [];
  return [
    ...Object.keys(extras).map((key): Step => {
      const kept = Object.entries(extras).filter(([name]) => name !== key);
      return { kind, blocks, ...Object.fromEntries(kept) };
    }),
    ...fewer.map((some): Step => ({ ...step, blocks: some })),
  ];
}
