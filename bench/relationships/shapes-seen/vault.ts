import {
  code,
  hex,
  integer,
  moment,
  money,
  oneOf,
  ref,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const vault: HandWrittenSchema = {
  hub_client: {
    rows: 260,
    key: ['hk_client'],
    columns: {
      hk_client: hex(32),
      load_dts: moment(),
      rec_src: oneOf('CRM', 'WEB'),
      client_bk: code('K', 900),
    },
  },
  hub_policy: {
    rows: 340,
    key: ['hk_policy'],
    columns: {
      hk_policy: hex(32),
      load_dts: moment(),
      rec_src: oneOf('POL'),
      policy_bk: code('POL-', 10_000),
    },
  },
  hub_broker: {
    rows: 22,
    key: ['hk_broker'],
    columns: {
      hk_broker: hex(32),
      load_dts: moment(),
      rec_src: oneOf('CRM'),
      broker_bk: code('B', 1),
    },
  },
  hub_claim: {
    rows: 190,
    key: ['hk_claim'],
    columns: {
      hk_claim: hex(32),
      load_dts: moment(),
      rec_src: oneOf('CLM'),
      claim_bk: code('C/', 77),
    },
  },
  lnk_policy_client: {
    rows: 420,
    key: ['hk_lnk_policy_client'],
    columns: {
      hk_lnk_policy_client: hex(32),
      hk_policy: ref('hub_policy', 'hk_policy'),
      hk_client: ref('hub_client', 'hk_client'),
      load_dts: moment(),
      rec_src: oneOf('POL'),
    },
  },
  lnk_claim_policy: {
    rows: 190,
    key: ['hk_lnk_claim_policy'],
    columns: {
      hk_lnk_claim_policy: hex(32),
      hk_claim: ref('hub_claim', 'hk_claim'),
      hk_policy: ref('hub_policy', 'hk_policy'),
      load_dts: moment(),
      rec_src: oneOf('CLM'),
    },
  },
  lnk_policy_broker: {
    rows: 300,
    key: ['hk_lnk_policy_broker'],
    columns: {
      hk_lnk_policy_broker: hex(32),
      hk_policy: ref('hub_policy', 'hk_policy'),
      hk_broker: ref('hub_broker', 'hk_broker'),
      load_dts: moment(),
      rec_src: oneOf('POL'),
    },
  },
  sat_client_crm: {
    rows: 500,
    key: ['hk_client', 'load_dts'],
    columns: {
      hk_client: ref('hub_client', 'hk_client'),
      load_dts: moment(),
      hash_diff: hex(32),
      name: words(),
      city: oneOf('Ulm', 'Bonn', 'Kiel'),
      rec_src: oneOf('CRM'),
    },
  },
  sat_client_web: {
    rows: 300,
    key: ['hk_client', 'load_dts'],
    columns: {
      hk_client: ref('hub_client', 'hk_client'),
      load_dts: moment(),
      hash_diff: hex(32),
      newsletter: integer(0, 1),
      rec_src: oneOf('WEB'),
    },
  },
  sat_policy: {
    rows: 600,
    key: ['hk_policy', 'load_dts'],
    columns: {
      hk_policy: ref('hub_policy', 'hk_policy'),
      load_dts: moment(),
      hash_diff: hex(32),
      premium: money(900),
      status: oneOf('A', 'L'),
      rec_src: oneOf('POL'),
    },
  },
  sat_claim: {
    rows: 280,
    key: ['hk_claim', 'load_dts'],
    columns: {
      hk_claim: ref('hub_claim', 'hk_claim'),
      load_dts: moment(),
      hash_diff: hex(32),
      reserve: money(9000),
      rec_src: oneOf('CLM'),
    },
  },
  sat_lnk_policy_broker: {
    rows: 310,
    key: ['hk_lnk_policy_broker', 'load_dts'],
    columns: {
      hk_lnk_policy_broker: ref('lnk_policy_broker', 'hk_lnk_policy_broker'),
      load_dts: moment(),
      share_pct: integer(1, 20),
      rec_src: oneOf('POL'),
    },
  },
};
