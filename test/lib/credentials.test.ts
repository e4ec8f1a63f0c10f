import { expect, test } from 'vitest';
import { findCredential, redactProse } from '../../src/lib/patterns/credentials.ts';

test.each([
  'password: xyz',
  'the password: xyz.',
  'Password = Tr0ub4dor',
  'my password is hunter2',
  'login: bob, password: correcthorse',
  'API key: 9f8a7b6c5d',
  'Passwort: geheim',
  '{"password":"xyz"}',
  'access token is Ab12Cd34Ef',
  'secret: secret123',
])('%s has a secret, and loses nothing but it', (text) => {
  expect(findCredential(text)).toBe('a password or a key');
  const [before = '', after = ''] = redactProse(text).split('[redacted]');
  expect(text.startsWith(before) && text.endsWith(after)).toBe(true);
  expect(before).toMatch(/password|Passwort|key|token|secret/i);
  expect(redactProse(text)).not.toMatch(/xyz|Tr0|hunter2|horse|9f8|geheim|Ab12|123/);
});

test.each([
  'password: required',
  'Password: hashed with bcrypt',
  'The password is required.',
  'The password is stored hashed.',
  'The password is 8 characters long',
  'password: env:DB_PASSWORD',
  'password: keychain:ktx/db',
  'password: ${DB}',
  'password: <your password>',
  'password: ********',
  'password: varchar(255)',
  'password=NULL',
  'password: see 1Password',
  'passwords: 12 resets per day',
  'Password reset: the count of resets',
  'secret: the recipe',
  'api key: none',
])('%s has no secret', (text) => {
  expect(findCredential(text)).toBeUndefined();
  expect(redactProse(text)).toBe(text);
});
