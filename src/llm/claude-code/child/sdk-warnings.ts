/**
 * Hides one warning of the SDK: that it calls `canUseTool` only for tools that are not allowed. ktx
 * wants exactly that, and the warning would appear on a person's screen.
 */
export function hidePermissionWarning(): void {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    const [options] = rest;
    const code: unknown =
      typeof options === 'object' && options !== null ? Reflect.get(options, 'code') : undefined;
    if (code !== 'CLAUDE_SDK_CAN_USE_TOOL_SHADOWED')
      Reflect.apply(emitWarning, undefined, [warning, ...rest]);
  };
}
