import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const built = (name: string) => fileURLToPath(new URL(`../../target/debug/${name}`, import.meta.url));
const BINARY = process.env.WHEELHOUSE_BINARY ?? built("wheelhouse");
const SEED = process.env.WHEELHOUSE_SEED ?? built("bench-seed");

const READY_WITHIN_MS = 20_000;
const STOPPED_WITHIN_MS = 15_000;

/** A real server with a directory and a port of its own. */
export class TestServer {
  #process: ChildProcess | undefined;

  /** The session that was there before the server began, if one was asked for. */
  seeded = "";

  private constructor(
    /** Holds the data directory and the test's repositories. */
    readonly dir: string,
    public url: string,
  ) {}

  static async start(config: string, seed: string[]): Promise<TestServer> {
    // A short path: the data directory holds Unix sockets.
    const server = new TestServer(await mkdtemp(path.join(tmpdir(), "wh-web-")), "");
    await writeFile(server.#config, config);
    if (seed.length > 0) {
      const { stdout } = await run(SEED, [server.#data, ...seed]);
      server.seeded = (JSON.parse(stdout) as { session: string }).session;
    }
    await server.#serve("127.0.0.1:0");
    return server;
  }

  get #data(): string {
    return path.join(this.dir, "data");
  }

  get #config(): string {
    return path.join(this.dir, "wheelhouse.toml");
  }

  /** Runs a command of the program on the server's machine and returns what it prints. */
  async cli(...args: string[]): Promise<string> {
    const { stdout } = await run(BINARY, ["--data-dir", this.#data, "--config", this.#config, ...args]);
    return stdout.trim();
  }

  loginLink(user?: string): Promise<string> {
    return this.cli("login", "--quiet", ...(user ? ["--user", user] : []));
  }

  /** Makes a key for a program. */
  async key(): Promise<string> {
    const made = await this.cli("key", "create", "--scope", "full", "--name", "test", "--json");
    return (JSON.parse(made) as { key: string }).key;
  }

  /** Calls REST as a program does. */
  async rest(key: string, method: string, address: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.url}/api/v1${address}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const told = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) {
      throw new Error(`${method} ${address}: ${JSON.stringify(told)}`);
    }
    return told;
  }

  /** Makes a repository with one commit. */
  async repo(name = "project"): Promise<string> {
    const repo = path.join(this.dir, name);
    const script = `git init -q -b main "$0" && cd "$0" && printf 'one\\ntwo\\nthree\\n' > README.md && git add . &&
      git -c user.name=T -c user.email=t@t.invalid commit -qm first`;
    await run("sh", ["-c", script, repo]);
    return repo;
  }

  /** Runs git in a repository and returns what it prints. */
  async git(repo: string, ...args: string[]): Promise<string> {
    const { stdout } = await run("git", ["-C", repo, ...args]);
    return stdout.trim();
  }

  /** Ends the server as a crash would; agents go on. */
  async kill(): Promise<void> {
    const ended = this.#ended();
    this.#process?.kill("SIGKILL");
    await ended;
  }

  /** Starts the server again where it was. */
  async startAgain(): Promise<void> {
    await rm(path.join(this.#data, "server.json"), { force: true });
    await this.#serve(new URL(this.url).host);
  }

  /** Ends the server, every agent, and the directory. */
  async close(): Promise<void> {
    const ended = this.#ended();
    await this.cli("serve", "--kill-all").catch(() => this.#process?.kill("SIGKILL"));
    await ended;
    await rm(this.dir, { recursive: true, force: true });
  }

  async #serve(listen: string): Promise<void> {
    const args = ["--data-dir", this.#data, "--config", this.#config, "serve", "--listen", listen];
    const child = spawn(BINARY, args, { stdio: ["ignore", "ignore", "pipe"] });
    this.#process = child;
    let said = "";
    child.stderr?.on("data", (data: Buffer) => (said = (said + data.toString()).slice(-4000)));
    const deadline = Date.now() + READY_WITHIN_MS;
    for (;;) {
      const file = await readFile(path.join(this.#data, "server.json"), "utf8").catch(() => "");
      if (file) {
        this.url = (JSON.parse(file) as { url: string }).url;
        return;
      }
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`the server did not start:\n${said}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #ended(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
    await new Promise((resolve) => child.once("exit", resolve));
    clearTimeout(timer);
  }
}
