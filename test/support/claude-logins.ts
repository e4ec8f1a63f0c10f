import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaudeHome } from './claude-home.ts';

/** The key that `claude auth login --console` would have kept. */
export const consoleKey = 'sk-ant-api03-made-up-console-key';
export const ownOrganization = '11111111-1111-4111-8111-111111111111';

const oauthAccount = {
  accountUuid: '33333333-3333-4333-8333-333333333333',
  emailAddress: 'ada@example.com',
  organizationUuid: ownOrganization,
  organizationName: 'Example',
};

/** Leaves the files that `claude auth login --console` leaves. */
export async function logIntoConsole({ home }: ClaudeHome): Promise<void> {
  const account = { oauthAccount, primaryApiKey: consoleKey, hasCompletedOnboarding: true };
  await writeFile(join(home, '.claude.json'), JSON.stringify(account));
}

/** Leaves the files that `claude auth login` leaves with a subscription. */
export async function logIntoSubscription(
  { home }: ClaudeHome,
  { expiresAt = Date.now() + 3_600_000 }: { readonly expiresAt?: number } = {},
): Promise<void> {
  await mkdir(join(home, '.claude'), { recursive: true });
  const claudeAiOauth = {
    accessToken: 'sk-ant-oat01-made-up',
    refreshToken: 'sk-ant-ort01-made-up',
    expiresAt,
    scopes: ['user:inference', 'user:profile'],
    subscriptionType: 'team',
  };
  await writeFile(join(home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth }));
  await writeFile(join(home, '.claude.json'), JSON.stringify({ oauthAccount }));
}
