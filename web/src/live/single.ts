/**
 * Runs work under a name, one at a time. What is asked for meanwhile is joined and run once afterwards, so that the last
 * thing that happened is always looked at, and a slow answer is not asked for a hundred times.
 */
export class Single<T> {
  #running = new Map<string, { next: T | undefined }>();

  constructor(
    private readonly work: (name: string, about: T) => Promise<void>,
    private readonly join: (a: T, b: T) => T,
  ) {}

  ask(name: string, about: T): void {
    const running = this.#running.get(name);
    if (running) {
      running.next = running.next === undefined ? about : this.join(running.next, about);
      return;
    }
    void this.#run(name, about);
  }

  async #run(name: string, about: T): Promise<void> {
    const state: { next: T | undefined } = { next: undefined };
    this.#running.set(name, state);
    let current: T | undefined = about;
    while (current !== undefined) {
      state.next = undefined;
      try {
        await this.work(name, current);
      } catch {
        // What could not be read is read again by whoever shows it, or when the feed is back.
      }
      current = state.next;
    }
    this.#running.delete(name);
  }
}
