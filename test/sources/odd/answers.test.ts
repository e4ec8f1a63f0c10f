import { describe, expect, test } from 'vitest';
import { apiSources, type FarEnd } from '../../contract/api-sources.ts';
import type { Fault } from '../../recorded/loopback-server.ts';
import { pageId } from '../../recorded/notion/fernholm.ts';
import { readFarEnd } from './read-far-end.ts';

const loginPage = '<!doctype html><html><body><form action="/login">Log in</form></body></html>';

/** Answers of a server to a request for one object, which costs that object alone. */
const oddBodies: Readonly<Record<string, Omit<Fault, 'match' | 'times'>>> = {
  'a login page with 200': {
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: loginPage,
  },
  'JSON that is cut': { body: '{"id": 1, "name": "Half' },
  'nothing at all': { status: 204, body: '' },
  'a list': { body: '[]' },
  'a null': { body: 'null' },
  'a text': { body: '"ok"' },
  'an object with nothing that is known': { body: '{"unknown": {"of": ["next", "year"]}}' },
  'more than 32 MB': { body: `{"x": "${'x'.repeat(33_000_000)}"}` },
  'a refusal (403)': { status: 403, body: '{}' },
  'that it is gone (410)': { status: 410, body: '{}' },
};

describe.each(Object.keys(apiSources))('%s', (name) => {
  /** A page that the search of Notion does not know is found only in the page around it. */
  const isFound = (key: string, failed: ReadonlyMap<string, string>) =>
    failed.has(key) || (name === 'notion' && key === `pages/${pageId(3)}.md`);

  test('loses the one object whose answer is odd, with the reason, and no other', async () => {
    const whole = await readFarEnd(name, () => undefined);
    expect(whole.error).toBeUndefined();
    for (const [what, answer] of Object.entries(oddBodies)) {
      const odd = await readFarEnd(name, (far) => {
        far.faults.push({ match: far.bodies, times: 1, ...answer });
      });
      expect(odd.error, what).toBeUndefined();
      expect(odd.failed.size, `${what}: ${odd.told}`).toBe(1);
      const lost = whole.keys.filter((key) => !odd.keys.includes(key) && !isFound(key, odd.failed));
      expect(lost, what).toEqual([]);
      expect(odd.told, what).not.toContain('Log in');
    }
  }, 120_000);

  test('goes on after 429 and 503 without Retry-After', async () => {
    const whole = await readFarEnd(name, () => undefined);
    const busy = await readFarEnd(name, (far) => {
      far.faults.push({ match: far.bodies, times: 1, status: 429 });
      far.faults.push({
        match: far.bodies,
        times: 1,
        status: 503,
        headers: { 'retry-after': '?' },
      });
    });
    expect(busy.keys).toEqual(whole.keys);
    expect(busy.isComplete).toBe(true);
  });

  test('a login page instead of the first answer is an error that says what to check', async () => {
    const { keys, error } = await readFarEnd(name, (far) => {
      far.faults.push({ match: /./, times: 1, body: loginPage });
    });
    expect(keys).toEqual([]);
    expect(['bad_answer', 'login_refused']).toContain(error?.code);
    expect(error?.hint).toContain('base_url');
  });

  test('a redirect is an error that names the remedy, and no login leaves', async () => {
    const { error, isComplete } = await readFarEnd(name, (far) => {
      const location = 'https://elsewhere.example/login';
      far.faults.push({ match: far.bodies, times: 1, status: 302, headers: { location } });
    });
    expect(error?.code).toBe('redirected');
    expect(error?.exitCode).toBe(2);
    expect(isComplete).toBe(false);
  });

  test('more objects than max_items is an error, and the listing is not cut', async () => {
    const { error, isComplete } = await readFarEnd(name, (far) => {
      Object.assign(far.config, { max_items: 1 });
    });
    expect(error?.code).toBe('too_many_items');
    expect(isComplete).toBe(false);
  });

  test('a listing that is cut, empty or in another form is not complete', async () => {
    const answers = ['{"data": [', 'null', '{"results": null, "data": null}', loginPage];
    for (const body of answers) {
      const { isComplete, told } = await readFarEnd(name, (far: FarEnd) => {
        far.faults.push({ match: far.furtherPage, times: 1, body });
      });
      expect(isComplete, body).toBe(false);
      expect(told, body).toMatch(/ktx expects|do not know|does not know|bad_answer/);
    }
  });
});
