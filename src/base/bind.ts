type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (deps: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Functions whose first parameter, their dependencies, is already given. */
export function bindAll<Deps, Functions extends Record<string, (deps: Deps, ...rest: never[]) => unknown>>(
  deps: Deps,
  functions: Functions,
): Bound<Functions> {
  const bound = Object.entries(functions).map(([name, run]) => [
    name,
    (...rest: never[]) => run(deps, ...rest),
  ]);
  return Object.fromEntries(bound) as Bound<Functions>;
}
