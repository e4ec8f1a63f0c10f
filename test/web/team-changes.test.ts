import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ktx } from '../cli/run-cli.ts';
import { startHostOf, token, watchFolder } from '../mcp/changes-shop.ts';
import { contestedProject, envelopeOf, type Received, removeFolder, sendTo } from './page.ts';
import { createToken, enterTeam, startTeam } from './team.ts';

const reviewSchema = z.object({
  conflicts: z.array(
    z.object({
      subject: z.string(),
      kind: z.string(),
      variants: z.array(z.object({ id: z.string() })),
    }),
  ),
});

test('what people decide on the page of a server that proposes is a request, and no commit', async () => {
  const cwd = await contestedProject();
  onTestFinished(() => removeFolder(cwd));
  const host = await startHostOf(cwd, 'github');
  appendFileSync(join(cwd, '.env'), `KTX_TEST_GIT_TOKEN=${token}\n`);
  const everything = ['--scope', 'read', 'query', 'write'];
  const logins = [
    await createToken(cwd, 'ann', everything),
    await createToken(cwd, 'bo', everything),
  ];
  await using team = await startTeam(cwd);
  const isClean = watchFolder(cwd);
  const [ann, bo] = await Promise.all(logins.map((login) => enterTeam(team, login)));
  const post = (headers: object | undefined, path: string, body: object): Promise<Received> =>
    sendTo(`${team.url}api/review/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
  const listed = await sendTo(`${team.url}api/review`, { headers: ann ?? {} });
  const { conflicts } = reviewSchema.parse(envelopeOf(listed).data);
  const [{ subject, kind, variants } = { subject: '', kind: '', variants: [] }] = conflicts;
  const seen = variants.map(({ id }) => id);
  const about = { subject, kind, seen };

  const chosen = await post(ann, 'choose', { ...about, version: seen[1], why: 'finance says so' });
  expect(envelopeOf(chosen)).toMatchObject({ ok: true, data: { change: { state: 'open' } } });
  const [request] = host.requests;
  expect(request?.branch).toMatch(/^ktx\/ann-review-[0-9a-f]{12}$/);
  expect(request?.body).toContain('finance says so');
  const pins = () => host.git('show', `${request?.branch ?? ''}:pins.yaml`);
  expect(pins()).toContain(`choose: ${seen[1] ?? '?'}`);
  expect(pins()).toContain('by: ann');

  await post(ann, 'choose', { ...about, version: seen[0] });
  expect(host.requests).toHaveLength(1);
  expect(pins()).toContain(`choose: ${seen[0] ?? '?'}`);
  await post(bo, 'defer', about);
  expect(host.requests.map(({ branch }) => branch.replace(/[0-9a-f]{12}$/, ''))).toEqual([
    'ktx/ann-review-',
    'ktx/bo-review-',
  ]);

  const outdated = await post(ann, 'choose', { ...about, seen: [seen[0]], version: seen[0] });
  expect(envelopeOf(outdated).error?.code).toBe('question_changed');
  const why = 'the password is in postgres://ann:hunter2secret@db/shop';
  const secret = await post(ann, 'choose', { ...about, version: seen[1], why });
  expect(envelopeOf(secret).error?.code).toBe('decision_secret');
  expect(JSON.stringify(host.requests)).not.toContain('hunter2');
  expect(host.requests).toHaveLength(2);
  expect(isClean()).toBe(true);
  expect((await ktx(['review', 'list'], { cwd })).stdout).toContain(subject);
});
