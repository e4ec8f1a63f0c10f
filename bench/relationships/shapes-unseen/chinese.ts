import {
  code,
  day,
  integer,
  money,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const chinese: HandWrittenSchema = {
  部门: { rows: 10, key: ['部门编号'], columns: { 部门编号: serial(), 部门名称: words() } },
  员工: {
    rows: 90,
    key: ['员工编号'],
    columns: {
      员工编号: serial(),
      姓名: words(),
      部门编号: ref('部门', '部门编号'),
      上级编号: ref('员工', '员工编号', { nulls: 0.1 }),
      工资: money(9000),
    },
  },
  客户: {
    rows: 220,
    key: ['客户编号'],
    columns: { 客户编号: code('KH', 1000), 客户名称: words(), 城市编号: ref('城市', '城市编号') },
  },
  城市: {
    rows: 35,
    key: ['城市编号'],
    columns: { 城市编号: serial(), 城市名称: words(), 人口: integer(100, 9000) },
  },
  产品: {
    rows: 150,
    key: ['产品编号'],
    columns: {
      产品编号: serial(),
      产品名称: words(),
      类别编号: ref('产品类别', '类别编号'),
      单价: money(90),
      库存量: integer(0, 90),
    },
  },
  产品类别: { rows: 16, key: ['类别编号'], columns: { 类别编号: serial(), 类别名称: words() } },
  订单: {
    rows: 600,
    key: ['订单编号'],
    columns: {
      订单编号: serial(20_001),
      客户编号: ref('客户', '客户编号'),
      员工编号: ref('员工', '员工编号'),
      下单日期: day(),
    },
  },
  订单明细: {
    rows: 1400,
    key: ['明细编号'],
    columns: {
      明细编号: serial(),
      订单编号: ref('订单', '订单编号'),
      产品编号: ref('产品', '产品编号'),
      数量: integer(1, 9),
      金额: money(900),
    },
  },
};
