import type { Generated } from './generate.ts';
import {
  build,
  code,
  constant,
  day,
  dayNumber,
  each,
  given,
  hex,
  listed,
  made,
  meant,
  moment,
  money,
  nothing,
  oneOf,
  ref,
  serial,
  sparse,
  whole,
  words,
  type Schema,
} from './written.ts';

/** Shapes of warehouses and applications, written by hand to develop with. Nothing is trained on them; `shapes-unseen.ts` has those that were only scored. */

const vault: Schema = {
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
      newsletter: whole(0, 1),
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
      share_pct: whole(1, 20),
      rec_src: oneOf('POL'),
    },
  },
};

const concepts = (share = 1) => ref('concept', 'concept_id', { share });
const omop: Schema = {
  concept: {
    rows: 900,
    key: ['concept_id'],
    columns: {
      concept_id: sparse(0, 45_000),
      concept_name: words(),
      domain_id: ref('domain', 'domain_id'),
      vocabulary_id: ref('vocabulary', 'vocabulary_id'),
      concept_class_id: ref('concept_class', 'concept_class_id'),
      standard_concept: oneOf('S', 'C'),
      concept_code: code('', 4000, 13),
    },
  },
  domain: {
    rows: 8,
    key: ['domain_id'],
    columns: {
      domain_id: listed(
        'Condition',
        'Drug',
        'Measurement',
        'Gender',
        'Visit',
        'Unit',
        'Race',
        'Type Concept',
      ),
      domain_name: words(),
      domain_concept_id: concepts(),
    },
  },
  vocabulary: {
    rows: 7,
    key: ['vocabulary_id'],
    columns: {
      vocabulary_id: listed('SNOMED', 'RxNorm', 'LOINC', 'Gender', 'Visit', 'UCUM', 'Race'),
      vocabulary_name: words(),
      vocabulary_concept_id: concepts(),
    },
  },
  concept_class: {
    rows: 6,
    key: ['concept_class_id'],
    columns: {
      concept_class_id: listed(
        'Clinical Finding',
        'Ingredient',
        'Lab Test',
        'Gender',
        'Visit',
        'Unit',
      ),
      concept_class_name: words(),
      concept_class_concept_id: concepts(),
    },
  },
  concept_ancestor: {
    rows: 1200,
    key: ['ancestor_concept_id', 'descendant_concept_id'],
    columns: {
      ancestor_concept_id: concepts(0.2),
      descendant_concept_id: concepts(),
      min_levels_of_separation: whole(0, 5),
      max_levels_of_separation: whole(0, 9),
    },
  },
  location: {
    rows: 60,
    key: ['location_id'],
    columns: {
      location_id: serial(),
      city: words(),
      state: oneOf('CA', 'TX'),
      zip: code('9', 1000, 3),
    },
  },
  care_site: {
    rows: 20,
    key: ['care_site_id'],
    columns: {
      care_site_id: serial(),
      care_site_name: words(),
      place_of_service_concept_id: concepts(0.02),
      location_id: ref('location', 'location_id'),
    },
  },
  provider: {
    rows: 45,
    key: ['provider_id'],
    columns: {
      provider_id: serial(),
      npi: code('1', 100_000),
      specialty_concept_id: concepts(0.03),
      care_site_id: ref('care_site', 'care_site_id'),
      year_of_birth: whole(1950, 1990),
    },
  },
  person: {
    rows: 320,
    key: ['person_id'],
    columns: {
      person_id: serial(),
      gender_concept_id: concepts(0.003),
      year_of_birth: whole(1920, 2010),
      race_concept_id: concepts(0.01),
      location_id: ref('location', 'location_id'),
      provider_id: ref('provider', 'provider_id', { nulls: 0.3 }),
      care_site_id: ref('care_site', 'care_site_id'),
      person_source_value: hex(12),
    },
  },
  visit_occurrence: {
    rows: 900,
    key: ['visit_occurrence_id'],
    columns: {
      visit_occurrence_id: serial(),
      person_id: ref('person', 'person_id'),
      visit_concept_id: concepts(0.004),
      visit_start_date: day(),
      visit_type_concept_id: concepts(0.004),
      provider_id: ref('provider', 'provider_id'),
      care_site_id: ref('care_site', 'care_site_id'),
      preceding_visit_occurrence_id: ref('visit_occurrence', 'visit_occurrence_id', { nulls: 0.5 }),
    },
  },
  condition_occurrence: {
    rows: 1500,
    key: ['condition_occurrence_id'],
    columns: {
      condition_occurrence_id: serial(),
      person_id: ref('person', 'person_id'),
      condition_concept_id: concepts(0.3),
      condition_start_date: day(),
      condition_type_concept_id: concepts(0.004),
      provider_id: ref('provider', 'provider_id', { nulls: 0.2 }),
      visit_occurrence_id: ref('visit_occurrence', 'visit_occurrence_id'),
      condition_source_value: code('I', 10),
    },
  },
  drug_exposure: {
    rows: 1300,
    key: ['drug_exposure_id'],
    columns: {
      drug_exposure_id: serial(),
      person_id: ref('person', 'person_id'),
      drug_concept_id: concepts(0.3),
      drug_exposure_start_date: day(),
      drug_type_concept_id: concepts(0.003),
      refills: whole(0, 5),
      quantity: whole(1, 90),
      route_concept_id: concepts(0.01),
      visit_occurrence_id: ref('visit_occurrence', 'visit_occurrence_id', { nulls: 0.1 }),
    },
  },
  measurement: {
    rows: 1600,
    key: ['measurement_id'],
    columns: {
      measurement_id: serial(),
      person_id: ref('person', 'person_id'),
      measurement_concept_id: concepts(0.2),
      measurement_date: day(),
      value_as_number: money(200),
      value_as_concept_id: ref('concept', 'concept_id', { nulls: 0.7, share: 0.05 }),
      unit_concept_id: concepts(0.02),
      range_low: whole(1, 5),
      visit_occurrence_id: ref('visit_occurrence', 'visit_occurrence_id', { nulls: 0.2 }),
    },
  },
  observation_period: {
    rows: 320,
    key: ['observation_period_id'],
    columns: {
      observation_period_id: serial(),
      person_id: each('person', 'person_id'),
      observation_period_start_date: day(),
      period_type_concept_id: concepts(0.003),
    },
  },
  death: {
    rows: 25,
    key: ['person_id'],
    columns: {
      person_id: each('person', 'person_id'),
      death_date: day(),
      cause_concept_id: ref('concept', 'concept_id', { nulls: 0.3 }),
    },
  },
};

const blog: Schema = {
  bl_users: {
    rows: 60,
    key: ['ID'],
    columns: {
      ID: serial(),
      user_login: hex(7),
      user_email: made('TEXT', ({ row }) => `u${row}@example.org`),
      user_status: constant(0),
    },
  },
  bl_usermeta: {
    rows: 500,
    key: ['umeta_id'],
    columns: {
      umeta_id: serial(),
      user_id: ref('bl_users', 'ID'),
      meta_key: oneOf('nickname', 'locale', 'rich_editing'),
      meta_value: words(),
    },
  },
  bl_posts: {
    rows: 420,
    key: ['ID'],
    columns: {
      ID: serial(1, 2),
      post_author: ref('bl_users', 'ID', { share: 0.4 }),
      post_date: moment(),
      post_content: words(),
      post_status: oneOf('publish', 'draft'),
      post_parent: ref('bl_posts', 'ID', { nulls: 0.7, none: 0 }),
      menu_order: whole(0, 5),
      post_type: oneOf('post', 'page', 'attachment'),
      comment_count: whole(0, 30),
    },
  },
  bl_postmeta: {
    rows: 1300,
    key: ['meta_id'],
    columns: {
      meta_id: serial(),
      post_id: ref('bl_posts', 'ID'),
      meta_key: oneOf('_edit_lock', '_thumbnail_id', '_price'),
      meta_value: oneOf('1', '2', '17', 'yes'),
    },
  },
  bl_comments: {
    rows: 600,
    key: ['comment_ID'],
    columns: {
      comment_ID: serial(),
      comment_post_ID: ref('bl_posts', 'ID', { orphans: 0.02 }),
      comment_author: words(),
      comment_date: moment(),
      comment_content: words(),
      comment_karma: constant(0),
      comment_approved: oneOf('1', '0', 'spam'),
      comment_parent: ref('bl_comments', 'comment_ID', { nulls: 0.8, none: 0 }),
      user_id: ref('bl_users', 'ID', { nulls: 0.5, none: 0 }),
    },
  },
  bl_commentmeta: {
    rows: 120,
    key: ['meta_id'],
    columns: {
      meta_id: serial(),
      comment_id: ref('bl_comments', 'comment_ID'),
      meta_key: oneOf('rating', 'verified'),
      meta_value: oneOf('1', '5'),
    },
  },
  bl_terms: {
    rows: 90,
    key: ['term_id'],
    columns: { term_id: serial(), name: words(), slug: hex(9), term_group: constant(0) },
  },
  bl_term_taxonomy: {
    rows: 95,
    key: ['term_taxonomy_id'],
    columns: {
      term_taxonomy_id: serial(),
      term_id: ref('bl_terms', 'term_id'),
      taxonomy: oneOf('category', 'post_tag'),
      description: words(),
      parent: ref('bl_terms', 'term_id', { nulls: 0.6, none: 0, share: 0.3 }),
      count: whole(0, 60),
    },
    open: [[['parent'], 'bl_term_taxonomy', ['term_taxonomy_id']]],
  },
  bl_term_relationships: {
    rows: 800,
    key: ['object_id', 'term_taxonomy_id'],
    columns: {
      object_id: ref('bl_posts', 'ID'),
      term_taxonomy_id: ref('bl_term_taxonomy', 'term_taxonomy_id'),
      term_order: constant(0),
    },
  },
  bl_options: {
    rows: 150,
    key: ['option_id'],
    columns: {
      option_id: serial(),
      option_name: hex(12),
      option_value: words(),
      autoload: oneOf('yes', 'no'),
    },
  },
  bl_links: {
    rows: 0,
    key: ['link_id'],
    columns: {
      link_id: serial(),
      link_url: words(),
      link_name: words(),
      link_owner: whole(1, 1),
      link_rating: whole(0, 0),
    },
  },
};

const japanese: Schema = {
  顧客: {
    rows: 240,
    key: ['顧客ID'],
    columns: {
      顧客ID: serial(),
      氏名: words(),
      都道府県コード: ref('都道府県', '都道府県コード'),
      登録日: day(),
      会員ランク: oneOf('金', '銀', '銅'),
    },
  },
  都道府県: {
    rows: 47,
    key: ['都道府県コード'],
    columns: {
      都道府県コード: made('TEXT', ({ row }) => String(row + 1).padStart(2, '0')),
      都道府県名: words(),
    },
  },
  商品: {
    rows: 160,
    key: ['商品ID'],
    columns: {
      商品ID: serial(),
      商品名: words(),
      カテゴリID: ref('カテゴリ', 'カテゴリID'),
      仕入先ID: ref('仕入先', '仕入先ID', { nulls: 0.05 }),
      単価: money(900),
      在庫数: whole(0, 99),
    },
  },
  カテゴリ: {
    rows: 18,
    key: ['カテゴリID'],
    columns: {
      カテゴリID: serial(),
      カテゴリ名: words(),
      親カテゴリID: ref('カテゴリ', 'カテゴリID', { nulls: 0.3 }),
    },
  },
  仕入先: {
    rows: 30,
    key: ['仕入先ID'],
    columns: {
      仕入先ID: serial(),
      会社名: words(),
      都道府県コード: ref('都道府県', '都道府県コード'),
    },
  },
  店舗: {
    rows: 12,
    key: ['店舗ID'],
    columns: {
      店舗ID: serial(),
      店舗名: words(),
      都道府県コード: ref('都道府県', '都道府県コード'),
    },
  },
  社員: {
    rows: 70,
    key: ['社員番号'],
    columns: {
      社員番号: serial(1001),
      氏名: words(),
      店舗ID: ref('店舗', '店舗ID'),
      上司社員番号: ref('社員', '社員番号', { nulls: 0.1 }),
    },
  },
  注文: {
    rows: 700,
    key: ['注文ID'],
    columns: {
      注文ID: serial(),
      顧客ID: ref('顧客', '顧客ID'),
      担当社員番号: ref('社員', '社員番号'),
      店舗ID: ref('店舗', '店舗ID'),
      注文日: day(),
      合計金額: money(9000),
    },
  },
  注文明細: {
    rows: 1500,
    key: ['注文ID', '行番号'],
    columns: {
      注文ID: made('INTEGER', ({ row }) => 1 + Math.floor(row / 3)),
      行番号: made('INTEGER', ({ row }) => 1 + (row % 3)),
      商品ID: ref('商品', '商品ID'),
      数量: whole(1, 12),
    },
    links: [[['注文ID'], '注文', ['注文ID']]],
  },
  返品: {
    rows: 60,
    key: ['返品ID'],
    columns: {
      返品ID: serial(),
      注文ID: ref('注文', '注文ID'),
      商品ID: ref('商品', '商品ID'),
      理由: oneOf('破損', '色違い'),
    },
  },
};

const dateKey = (orphans = 0) => ref('DimDate', 'DateKey', { orphans });
const resellers: Schema = {
  DimDate: {
    rows: 1500,
    key: ['DateKey'],
    columns: {
      DateKey: dayNumber(),
      FullDate: made('DATE', ({ row }) =>
        new Date(Date.UTC(2015, 0, 1 + row)).toISOString().slice(0, 10),
      ),
      DayNumberOfWeek: whole(1, 7),
      MonthNumberOfYear: whole(1, 12),
      CalendarYear: whole(2015, 2019),
    },
  },
  DimGeography: {
    rows: 120,
    key: ['GeographyKey'],
    columns: {
      GeographyKey: serial(),
      City: words(),
      CountryRegionCode: oneOf('US', 'DE', 'FR'),
      SalesTerritoryKey: ref('DimSalesTerritory', 'SalesTerritoryKey'),
    },
  },
  DimSalesTerritory: {
    rows: 11,
    key: ['SalesTerritoryKey'],
    columns: {
      SalesTerritoryKey: serial(),
      SalesTerritoryRegion: words(),
      SalesTerritoryGroup: oneOf('Europe', 'Pacific'),
    },
  },
  DimCustomer: {
    rows: 400,
    key: ['CustomerKey'],
    columns: {
      CustomerKey: serial(11_000),
      GeographyKey: ref('DimGeography', 'GeographyKey'),
      CustomerAlternateKey: code('AW000', 11_000, 1),
      FirstName: words(),
      BirthDate: day(),
      YearlyIncome: whole(10, 170),
      TotalChildren: whole(0, 5),
      DateFirstPurchase: day(),
    },
  },
  DimReseller: {
    rows: 80,
    key: ['ResellerKey'],
    columns: {
      ResellerKey: serial(),
      GeographyKey: ref('DimGeography', 'GeographyKey'),
      ResellerName: words(),
      NumberEmployees: whole(2, 100),
      YearOpened: whole(1970, 2010),
    },
  },
  DimProductCategory: {
    rows: 4,
    key: ['ProductCategoryKey'],
    columns: { ProductCategoryKey: serial(), EnglishProductCategoryName: words() },
  },
  DimProductSubcategory: {
    rows: 37,
    key: ['ProductSubcategoryKey'],
    columns: {
      ProductSubcategoryKey: serial(),
      EnglishProductSubcategoryName: words(),
      ProductCategoryKey: ref('DimProductCategory', 'ProductCategoryKey'),
    },
  },
  DimProduct: {
    rows: 300,
    key: ['ProductKey'],
    columns: {
      ProductKey: serial(),
      ProductAlternateKey: code('BK-', 100),
      ProductSubcategoryKey: ref('DimProductSubcategory', 'ProductSubcategoryKey', { nulls: 0.3 }),
      SafetyStockLevel: oneOf('4', '500'),
      DaysToManufacture: whole(0, 4),
    },
  },
  DimPromotion: {
    rows: 16,
    key: ['PromotionKey'],
    columns: {
      PromotionKey: serial(),
      EnglishPromotionName: words(),
      DiscountPct: money(1),
      MinQty: whole(0, 60),
    },
  },
  DimCurrency: {
    rows: 40,
    key: ['CurrencyKey'],
    columns: { CurrencyKey: serial(), CurrencyAlternateKey: hex(3), CurrencyName: words() },
  },
  DimEmployee: {
    rows: 90,
    key: ['EmployeeKey'],
    columns: {
      EmployeeKey: serial(),
      ParentEmployeeKey: ref('DimEmployee', 'EmployeeKey', { nulls: 0.02 }),
      SalesTerritoryKey: ref('DimSalesTerritory', 'SalesTerritoryKey'),
      HireDate: day(),
      VacationHours: whole(0, 90),
    },
  },
  FactInternetSales: {
    rows: 2500,
    key: ['SalesOrderNumber', 'SalesOrderLineNumber'],
    columns: {
      ProductKey: ref('DimProduct', 'ProductKey', { share: 0.6 }),
      OrderDateKey: dateKey(),
      DueDateKey: dateKey(),
      ShipDateKey: dateKey(),
      CustomerKey: ref('DimCustomer', 'CustomerKey'),
      PromotionKey: ref('DimPromotion', 'PromotionKey', { share: 0.3 }),
      CurrencyKey: ref('DimCurrency', 'CurrencyKey', { share: 0.2 }),
      SalesTerritoryKey: ref('DimSalesTerritory', 'SalesTerritoryKey'),
      SalesOrderNumber: made('TEXT', ({ row }) => `SO${43_697 + Math.floor(row / 3)}`),
      SalesOrderLineNumber: made('INTEGER', ({ row }) => 1 + (row % 3)),
      OrderQuantity: constant(1),
      SalesAmount: money(900),
    },
  },
  FactResellerSales: {
    rows: 2200,
    key: ['SalesOrderNumber', 'SalesOrderLineNumber'],
    columns: {
      ProductKey: ref('DimProduct', 'ProductKey'),
      OrderDateKey: dateKey(0.05),
      DueDateKey: dateKey(),
      ShipDateKey: dateKey(),
      ResellerKey: ref('DimReseller', 'ResellerKey'),
      EmployeeKey: ref('DimEmployee', 'EmployeeKey', { share: 0.2 }),
      PromotionKey: ref('DimPromotion', 'PromotionKey'),
      CurrencyKey: ref('DimCurrency', 'CurrencyKey', { share: 0.2 }),
      SalesTerritoryKey: ref('DimSalesTerritory', 'SalesTerritoryKey'),
      SalesOrderNumber: made('TEXT', ({ row }) => `SR${60_000 + Math.floor(row / 4)}`),
      SalesOrderLineNumber: made('INTEGER', ({ row }) => 1 + (row % 4)),
      OrderQuantity: whole(1, 30),
      SalesAmount: money(9000),
    },
  },
  FactSalesQuota: {
    rows: 160,
    key: ['SalesQuotaKey'],
    columns: {
      SalesQuotaKey: serial(),
      EmployeeKey: ref('DimEmployee', 'EmployeeKey', { share: 0.2 }),
      DateKey: dateKey(),
      CalendarYear: whole(2015, 2019),
      CalendarQuarter: whole(1, 4),
      SalesAmountQuota: money(9000),
    },
  },
  FactCurrencyRate: {
    rows: 1400,
    key: ['CurrencyKey', 'DateKey'],
    columns: {
      CurrencyKey: made('INTEGER', ({ row }) => 1 + (row % 14)),
      DateKey: made(
        'INTEGER',
        ({ row, values }) => values('DimDate', 'DateKey')[Math.floor(row / 14)] ?? null,
      ),
      AverageRate: money(2),
    },
    links: [
      [['CurrencyKey'], 'DimCurrency', ['CurrencyKey']],
      [['DateKey'], 'DimDate', ['DateKey']],
    ],
  },
};

const copies: Schema = {
  stg_orders: {
    rows: 700,
    key: ['order_id'],
    columns: {
      order_id: serial(5001),
      customer_id: made('INTEGER', ({ random }) => 1 + Math.floor(random() * 210)),
      store_code: made(
        'TEXT',
        ({ random, values }) => values('stores', 'store_code')[Math.floor(random() * 15)] ?? null,
      ),
      ordered_at: moment(),
      amount: money(300),
      _loaded_at: moment(),
    },
    open: [
      [['customer_id'], 'stg_customers', ['customer_id']],
      [['customer_id'], 'customers', ['customer_id']],
      [['store_code'], 'stores', ['store_code']],
      [['order_id'], 'orders', ['order_id']],
    ],
  },
  stg_customers: {
    rows: 210,
    key: ['customer_id'],
    columns: {
      customer_id: serial(),
      full_name: words(),
      city: oneOf('Oslo', 'Bergen'),
      _loaded_at: moment(),
    },
    open: [[['customer_id'], 'customers', ['customer_id']]],
  },
  customers: {
    rows: 210,
    key: ['customer_id'],
    columns: {
      customer_id: serial(),
      full_name: words(),
      city: oneOf('Oslo', 'Bergen'),
      first_order_on: day(),
    },
    open: [[['customer_id'], 'stg_customers', ['customer_id']]],
  },
  customers_history: {
    rows: 500,
    key: ['customer_id', 'valid_from'],
    columns: {
      customer_id: ref('customers', 'customer_id'),
      full_name: words(),
      valid_from: day(),
      valid_to: day(),
      is_current: whole(0, 1),
    },
    open: [[['customer_id'], 'stg_customers', ['customer_id']]],
  },
  stores: {
    rows: 15,
    key: ['store_code'],
    columns: { store_code: code('S', 100), store_name: words(), opened_on: day() },
  },
  orders: {
    rows: 700,
    key: ['order_id'],
    columns: {
      order_id: serial(5001),
      customer_id: ref('customers', 'customer_id'),
      store_code: ref('stores', 'store_code'),
      ordered_at: moment(),
      amount: money(300),
      status: oneOf('open', 'shipped'),
    },
    open: [
      [['order_id'], 'stg_orders', ['order_id']],
      [['customer_id'], 'stg_customers', ['customer_id']],
    ],
  },
  orders_snapshot_2023: {
    rows: 400,
    key: ['order_id'],
    columns: {
      order_id: serial(5001),
      customer_id: made('INTEGER', ({ random }) => 1 + Math.floor(random() * 210)),
      status: oneOf('open', 'shipped'),
    },
    open: [
      [['order_id'], 'orders', ['order_id']],
      [['order_id'], 'stg_orders', ['order_id']],
      [['customer_id'], 'customers', ['customer_id']],
      [['customer_id'], 'stg_customers', ['customer_id']],
    ],
  },
  order_lines: {
    rows: 1800,
    key: ['order_line_id'],
    columns: {
      order_line_id: serial(),
      order_id: ref('orders', 'order_id'),
      sku: ref('items', 'sku'),
      qty: whole(1, 9),
      price: money(80),
    },
    open: [[['order_id'], 'stg_orders', ['order_id']]],
  },
  items: {
    rows: 130,
    key: ['sku'],
    columns: { sku: code('SKU-', 1000), label: words(), weight_g: whole(10, 900) },
  },
  refunds: {
    rows: 90,
    key: ['refund_id'],
    columns: {
      refund_id: serial(),
      order_id: ref('orders', 'order_id'),
      refunded_at: moment(),
      amount: money(80),
    },
    open: [[['order_id'], 'stg_orders', ['order_id']]],
  },
};

const league: Schema = {
  people: {
    rows: 420,
    key: ['playerID'],
    columns: {
      playerID: made(
        'TEXT',
        ({ row, random }) =>
          `${String.fromCodePoint(97 + (row % 26))}${Math.floor(random() * 1e6).toString(36)}${String(row).padStart(3, '0')}`,
      ),
      nameLast: words(),
      birthYear: whole(1900, 1990),
      weight: whole(60, 120),
      bats: oneOf('L', 'R'),
      debut: day(),
    },
  },
  franchises: {
    rows: 30,
    key: ['franchID'],
    columns: { franchID: hex(3), franchName: words(), active: oneOf('Y', 'N') },
  },
  teams: {
    rows: 600,
    key: ['yearID', 'lgID', 'teamID'],
    columns: {
      yearID: made('INTEGER', ({ row }) => 1990 + Math.floor(row / 30)),
      lgID: made('TEXT', ({ row }) => (row % 2 === 0 ? 'AL' : 'NL')),
      teamID: made('TEXT', ({ row }) => `T${String(row % 30).padStart(2, 'A')}`),
      franchID: made(
        'TEXT',
        ({ row, values }) => values('franchises', 'franchID')[row % 30] ?? null,
      ),
      rank: whole(1, 7),
      W: whole(40, 110),
      L: whole(40, 110),
      attendance: whole(10_000, 90_000),
      park: words(),
    },
    links: [[['franchID'], 'franchises', ['franchID']]],
  },
  batting: {
    rows: 2600,
    key: ['playerID', 'yearID', 'stint'],
    columns: {
      playerID: ref('people', 'playerID'),
      yearID: given(),
      stint: whole(1, 2),
      teamID: given('TEXT'),
      lgID: given('TEXT'),
      G: whole(1, 162),
      AB: whole(0, 600),
      R: whole(0, 120),
      H: whole(0, 200),
      HR: whole(0, 50),
    },
    tuples: [[['yearID', 'lgID', 'teamID'], 'teams', ['yearID', 'lgID', 'teamID']]],
  },
  pitching: {
    rows: 1300,
    key: ['playerID', 'yearID', 'stint'],
    columns: {
      playerID: ref('people', 'playerID', { share: 0.5 }),
      yearID: given(),
      stint: whole(1, 2),
      teamID: given('TEXT'),
      lgID: given('TEXT'),
      W: whole(0, 25),
      L: whole(0, 20),
      SO: whole(0, 300),
    },
    tuples: [[['yearID', 'lgID', 'teamID'], 'teams', ['yearID', 'lgID', 'teamID']]],
  },
  salaries: {
    rows: 1500,
    key: ['yearID', 'teamID', 'lgID', 'playerID'],
    columns: {
      yearID: given(),
      teamID: given('TEXT'),
      lgID: given('TEXT'),
      playerID: ref('people', 'playerID'),
      salary: whole(100_000, 9_000_000),
    },
    tuples: [[['yearID', 'lgID', 'teamID'], 'teams', ['yearID', 'lgID', 'teamID']]],
  },
  managers: {
    rows: 640,
    key: ['yearID', 'teamID', 'inseason'],
    columns: {
      playerID: ref('people', 'playerID', { share: 0.1 }),
      yearID: given(),
      teamID: given('TEXT'),
      lgID: given('TEXT'),
      inseason: whole(1, 3),
      W: whole(0, 100),
      L: whole(0, 100),
    },
    tuples: [[['yearID', 'lgID', 'teamID'], 'teams', ['yearID', 'lgID', 'teamID']]],
  },
  schools: {
    rows: 80,
    key: ['schoolID'],
    columns: {
      schoolID: hex(8),
      name_full: words(),
      city: words(),
      state: oneOf('TX', 'CA', 'NY'),
    },
  },
  collegeplaying: {
    rows: 700,
    key: ['playerID', 'schoolID', 'yearID'],
    columns: {
      playerID: ref('people', 'playerID'),
      schoolID: ref('schools', 'schoolID'),
      yearID: whole(1980, 2009),
    },
  },
  halloffame: {
    rows: 150,
    key: ['playerID', 'yearid'],
    columns: {
      playerID: ref('people', 'playerID', { share: 0.3 }),
      yearid: whole(1995, 2012),
      votedBy: oneOf('BBWAA', 'Veterans'),
      ballots: whole(200, 500),
      votes: whole(0, 500),
      inducted: oneOf('Y', 'N'),
    },
  },
};

const rails: Schema = {
  companies: {
    rows: 25,
    key: ['id'],
    columns: {
      id: serial(),
      name: words(),
      type: oneOf('Agency', 'Client'),
      parent_id: ref('companies', 'id', { nulls: 0.6 }),
      created_at: moment(),
      updated_at: moment(),
    },
  },
  users: {
    rows: 130,
    key: ['id'],
    columns: {
      id: serial(),
      company_id: ref('companies', 'id'),
      email: made('TEXT', ({ row }) => `user${row}@example.com`),
      invited_by_id: ref('users', 'id', { nulls: 0.5 }),
      sign_in_count: whole(0, 90),
      created_at: moment(),
      updated_at: moment(),
    },
  },
  projects: {
    rows: 70,
    key: ['id'],
    columns: {
      id: serial(),
      company_id: ref('companies', 'id'),
      owner_id: ref('users', 'id'),
      name: words(),
      state: whole(0, 3),
      lock_version: whole(0, 9),
      created_at: moment(),
    },
  },
  memberships: {
    rows: 300,
    key: ['project_id', 'user_id'],
    columns: { project_id: ref('projects', 'id'), user_id: ref('users', 'id') },
  },
  tasks: {
    rows: 800,
    key: ['id'],
    columns: {
      id: serial(),
      project_id: ref('projects', 'id'),
      creator_id: ref('users', 'id'),
      assignee_id: ref('users', 'id', { nulls: 0.3 }),
      parent_id: ref('tasks', 'id', { nulls: 0.8 }),
      position: whole(1, 40),
      title: words(),
      created_at: moment(),
    },
  },
  milestones: {
    rows: 0,
    key: ['id'],
    columns: { id: serial(), project_id: ref('projects', 'id'), title: words(), due_on: day() },
  },
  comments: {
    rows: 900,
    key: ['id'],
    columns: {
      id: serial(),
      commentable_type: oneOf('Task', 'Project'),
      commentable_id: meant('commentable_type', {
        Task: ['tasks', 'id'],
        Project: ['projects', 'id'],
      }),
      user_id: ref('users', 'id'),
      body: words(),
      created_at: moment(),
    },
  },
  tags: {
    rows: 40,
    key: ['id'],
    columns: { id: serial(), name: hex(6), taggings_count: whole(0, 90) },
  },
  taggings: {
    rows: 400,
    key: ['id'],
    columns: {
      id: serial(),
      tag_id: ref('tags', 'id'),
      taggable_type: oneOf('Task', 'Project', 'Comment'),
      taggable_id: meant('taggable_type', {
        Task: ['tasks', 'id'],
        Project: ['projects', 'id'],
        Comment: ['comments', 'id'],
      }),
      tagger_id: ref('users', 'id', { share: 0.3 }),
    },
  },
  notifications: {
    rows: 500,
    key: ['id'],
    columns: {
      id: serial(),
      recipient_id: ref('users', 'id'),
      actor_id: ref('users', 'id'),
      notifiable_type: oneOf('Comment'),
      notifiable_id: meant('notifiable_type', { Comment: ['comments', 'id'] }),
      read_at: nothing('TIMESTAMP'),
    },
    open: [[['notifiable_id'], 'comments', ['id']]],
  },
  blobs: {
    rows: 160,
    key: ['id'],
    columns: { id: serial(), key: hex(20), byte_size: whole(100, 900_000), checksum: hex(16) },
  },
  attachments: {
    rows: 160,
    key: ['id'],
    columns: {
      id: serial(),
      name: oneOf('avatar', 'file'),
      record_type: oneOf('User', 'Task'),
      record_id: meant('record_type', { User: ['users', 'id'], Task: ['tasks', 'id'] }),
      blob_id: each('blobs', 'id'),
    },
  },
  profiles: {
    rows: 110,
    key: ['id'],
    columns: {
      id: serial(),
      user_id: each('users', 'id'),
      bio: words(),
      time_zone: oneOf('UTC', 'CET'),
    },
  },
  schema_migrations: {
    rows: 60,
    key: ['version'],
    columns: { version: made('TEXT', ({ row }) => `20230${101_000_000 + row * 7919}`) },
  },
};

export const shapesSeen: Readonly<Record<string, () => Generated>> = Object.fromEntries(
  Object.entries({ vault, omop, blog, japanese, resellers, copies, league, rails }).map(
    ([name, schema]) => [name, () => build(name, schema)],
  ),
);
