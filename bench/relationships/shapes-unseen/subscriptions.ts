import {
  code,
  computed,
  cycle,
  day,
  hex,
  integer,
  moment,
  money,
  oneOf,
  onePerRow,
  polymorphicId,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const subscriptions: HandWrittenSchema = {
  tenants: {
    rows: 20,
    key: ['tenant_ref'],
    columns: { tenant_ref: hex(14, 'ten_'), name: words(), region: oneOf('eu', 'us') },
  },
  users: {
    rows: 200,
    key: ['user_ref'],
    columns: {
      user_ref: hex(14, 'usr_'),
      tenant_ref: ref('tenants', 'tenant_ref'),
      full_name: words(),
      referred_by: ref('users', 'user_ref', { nulls: 0.7 }),
    },
  },
  user_settings: {
    rows: 150,
    key: ['user_ref'],
    columns: {
      user_ref: onePerRow('users', 'user_ref'),
      theme: oneOf('dark', 'light'),
      locale: oneOf('en', 'de'),
    },
  },
  plans: {
    rows: 5,
    key: ['plan_code'],
    columns: { plan_code: cycle('free', 'basic', 'team', 'pro', 'max'), monthly: money(90) },
  },
  subscriptions: {
    rows: 120,
    key: ['subscription_ref'],
    columns: {
      subscription_ref: hex(14, 'sub_'),
      tenant_ref: ref('tenants', 'tenant_ref'),
      plan: ref('plans', 'plan_code'),
      started_on: day(),
      seats: integer(1, 90),
    },
  },
  invoices: {
    rows: 500,
    key: ['invoice_no'],
    columns: {
      invoice_no: serial(100_001),
      subscription_ref: ref('subscriptions', 'subscription_ref', { orphans: 0.05 }),
      issued_on: day(),
      total: money(900),
    },
  },
  invoice_lines: {
    rows: 1200,
    key: ['invoice_no', 'line_no'],
    columns: {
      invoice_no: computed('INTEGER', ({ row }) => 100_001 + Math.floor(row / 3)),
      line_no: computed('INTEGER', ({ row }) => 1 + (row % 3)),
      feature: ref('features', 'feature_code'),
      units: integer(1, 900),
    },
    links: [[['invoice_no'], 'invoices', ['invoice_no']]],
  },
  features: {
    rows: 25,
    key: ['feature_code'],
    columns: { feature_code: code('F', 100), title: words() },
  },
  plan_features: {
    rows: 60,
    key: ['plan_code', 'feature_code'],
    columns: {
      plan_code: ref('plans', 'plan_code'),
      feature_code: ref('features', 'feature_code'),
    },
  },
  team_members: {
    rows: 260,
    key: ['team_ref', 'user_ref'],
    columns: {
      team_ref: ref('teams', 'team_ref'),
      user_ref: ref('users', 'user_ref'),
      role: oneOf('admin', 'member'),
    },
  },
  teams: {
    rows: 40,
    key: ['team_ref'],
    columns: {
      team_ref: hex(14, 'tm_'),
      tenant_ref: ref('tenants', 'tenant_ref'),
      lead: ref('users', 'user_ref', { nulls: 0.1 }),
    },
  },
  refunds: {
    rows: 0,
    key: ['refund_no'],
    columns: { refund_no: serial(), invoice_no: ref('invoices', 'invoice_no'), amount: money(90) },
  },
  audit: {
    rows: 900,
    key: ['entry'],
    columns: {
      entry: serial(),
      actor: ref('users', 'user_ref', { nulls: 0.2 }),
      subject_type: oneOf('users', 'teams'),
      subject_id: polymorphicId('subject_type', {
        users: ['users', 'user_ref'],
        teams: ['teams', 'team_ref'],
      }),
      at: moment(),
    },
  },
};
