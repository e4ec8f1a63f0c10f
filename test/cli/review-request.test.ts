import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startHostOf, watchFolder } from '../mcp/changes-shop.ts';
import { run } from '../store/git-project.ts';
import { contestedProject, removeFolder } from '../web/page.ts';
import { ktx, ktxJson } from './run-cli.ts';

const queueSchema = z.object({
  conflicts: z.array(
    z.object({ subject: z.string(), variants: z.array(z.object({ id: z.string() })) }),
  ),
});

/** A project with a conflict whose changes are requests at a host. */
async function openContested() {
  const cwd = await contestedProject();
  onTestFinished(() => removeFolder(cwd));
  const host = await startHostOf(cwd, 'github');
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  const [{ subject, variants } = { subject: '', variants: [] }] = queueSchema.parse(
    envelope.data,
  ).conflicts;
  return { cwd, host, subject, variants };
}

test('where changes are requests, a decision is one; --commit makes it a commit here', async () => {
  const { cwd, host, subject, variants } = await openContested();
  const [first = '', second = ''] = variants.map(({ id }) => id);
  const isClean = watchFolder(cwd);

  const choice = ['review', 'choose', subject, second, '--why', 'finance says so'];
  const chosen = await ktxJson(choice, { cwd });
  expect(chosen.code).toBe(0);
  expect(chosen.envelope.data).toMatchObject({
    pins: [{ subject, choose: second }],
    change: { state: 'open' },
  });
  expect(isClean()).toBe(true);
  const [request] = host.requests;
  const pinsOf = (branch = '') => host.git('show', `${branch}:pins.yaml`);
  expect(request?.branch).toMatch(/-review-[0-9a-f]{12}$/);
  expect(request?.body).toContain('finance says so');
  expect(pinsOf(request?.branch)).toContain(`choose: ${second}`);

  const other = await ktx(['review', 'choose', subject, first], { cwd });
  expect(other.stdout).toContain(host.url);
  expect(host.requests).toHaveLength(1);
  expect(pinsOf(request?.branch)).toContain(`choose: ${first}`);
  const words = ['remember', '--corrects', subject, 'sum(amount)'];
  expect((await ktx(words, { cwd })).code).toBe(0);
  expect(isClean()).toBe(true);

  const here = await ktx([...choice, '--commit'], { cwd });
  expect(here.code).toBe(0);
  expect(run(cwd, 'show', 'HEAD:pins.yaml')).toContain(`choose: ${second}`);
  expect(isClean()).toBe(false);
});

test('while the host is away the decision is kept, and said so', async () => {
  const { cwd, host, subject, variants } = await openContested();
  await host.close();
  const isClean = watchFolder(cwd);
  const choice = ['review', 'choose', subject, variants[0]?.id ?? ''];
  const kept = await ktxJson(choice, { cwd });
  expect(kept.code).toBe(3);
  expect(kept.envelope.data).toMatchObject({ change: { state: 'kept' } });
  expect(isClean()).toBe(true);
});
