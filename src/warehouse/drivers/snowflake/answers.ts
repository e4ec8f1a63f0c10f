import { z } from 'zod';

/** A column of a result, as the API describes it. */
const columnSchema = z.looseObject({
  name: z.string(),
  type: z.string(),
  scale: z.number().nullish(),
});
export type ResultColumn = z.infer<typeof columnSchema>;

/** The answer with the first rows. */
const resultSchema = z.looseObject({
  code: z.string().optional(),
  statementHandle: z.string().optional(),
  resultSetMetaData: z.looseObject({
    numRows: z.number().optional(),
    rowType: z.array(columnSchema),
    partitionInfo: z
      .array(z.looseObject({ rowCount: z.number(), uncompressedSize: z.number().optional() }))
      .optional(),
  }),
  data: z.array(z.array(z.string().nullable())),
});
export type ResultAnswer = z.infer<typeof resultSchema>;

/** The answer with later rows: it has no description of the columns. */
const partitionSchema = z.looseObject({ data: z.array(z.array(z.string().nullable())) });

/** The answer while a statement runs, and that of one which failed. */
const statusSchema = z.looseObject({
  code: z.string().optional(),
  message: z.string().optional(),
  statementHandle: z.string().optional(),
});
export type StatusAnswer = z.infer<typeof statusSchema>;

export function readResult(text: string): ResultAnswer | undefined {
  return read(resultSchema, text);
}

export function readPartition(text: string): z.infer<typeof partitionSchema> | undefined {
  return read(partitionSchema, text);
}

export function readStatus(text: string): StatusAnswer | undefined {
  return read(statusSchema, text);
}

function read<Answer>(schema: z.ZodType<Answer>, text: string): Answer | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
