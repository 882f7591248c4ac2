/** Whatever of these runs says so by a dialog, an error, a mark on the window, or a request. */
export const MARKUP = [
  "<script>window.pwned=1</script>",
  "<img src=https://evil.example/a.png onerror=window.pwned=1>",
  "<svg/onload=window.pwned=1>",
  "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
  "<iframe src=https://evil.example/frame></iframe>",
  "<a href=javascript:window.pwned=1>click</a>",
  "[click](javascript:window.pwned=1)",
  "[click](data:text/html,<script>window.pwned=1</script>)",
  "[click]( https://evil.example \"'onmouseover=window.pwned=1\")",
  "![image](https://evil.example/tracker.png)",
  "![image](data:image/svg+xml,<svg/onload=window.pwned=1>)",
  "<style>body{background:url(https://evil.example/css)}</style>",
  "<link rel=stylesheet href=https://evil.example/s.css>",
  "<meta http-equiv=refresh content=0;url=https://evil.example/>",
  "<form action=https://evil.example><button>go</button></form>",
  "<object data=https://evil.example/o></object>",
  "<base href=https://evil.example/>",
  "{{constructor.constructor('window.pwned=1')()}}",
  "https://evil.example/autolink",
  "<https://evil.example/angle>",
];

export const TERMINAL = [
  "\u001b[31mred\u001b[0m",
  "\u001b]0;owned title\u0007",
  "\u001b]8;;javascript:window.pwned=1\u0007link\u001b]8;;\u0007",
  "\u001b[2J\u001b[Hcleared",
  "\u009b31mcsi",
  "\u202etxt.exe\u202c",
  "a\u0000b",
];

/** Controls and what turns text around: no page may show them as they are. */
export const HIDDEN = /[\u0000\u001b\u009b\u202e]/;

export const WORST = [...MARKUP, ...TERMINAL];

/** Where something is shown: a page of the router, and what of it when it has several faces. */
export type Place = `/${string}` | "palette";

const CARDS: Place[] = ["/", "/boards/$board", "/boards/$board status"];

/**
 * Every field that an agent, a branch, a file, a repository or a caller can fill, and where it is shown. Each is filled with markup
 * that begins with `at-` and its name, which is looked for in all these places.
 */
export const FIELDS: Record<string, Place[]> = {
  // What an agent says by its protocol.
  message: ["/sessions/$session", "/search", ...CARDS, "/sessions/$session tree"],
  thought: ["/sessions/$session"],
  plan: ["/sessions/$session"],
  "call-title": ["/sessions/$session"],
  "call-input": ["/sessions/$session"],
  "call-output": ["/sessions/$session"],
  "call-path": ["/sessions/$session"],
  "call-diff": ["/sessions/$session"],
  permission: ["/inbox", "/sessions/$session waiting"],
  "permission-input": ["/inbox", "/sessions/$session waiting"],
  question: ["/inbox", "/sessions/$session echo"],
  mode: ["/sessions/$session settings"],
  stderr: ["/sessions/$session log"],
  failure: ["/", "/inbox"],
  // What it does by our tools.
  child: ["/", "/sessions/$session family"],
  sender: ["/sessions/$session child"],
  task: ["/loops/$loop", "/sessions/$session tasks"],
  note: ["/loops/$loop", "/sessions/$session tasks"],
  summary: ["/loops/$loop"],
  // What it leaves behind in git.
  branch: [...CARDS, "/sessions/$session diff"],
  file: ["/sessions/$session diff"],
  "file-text": ["/sessions/$session diff"],
  commit: ["/sessions/$session echo"],
  // What repositories and agents are called.
  "repo-name": ["/new"],
  "repo-path": ["/new"],
  "agent-title": ["/new", "/agents"],
  // What callers name and write.
  title: [...CARDS, "/inbox", "/cost", "/search", "/sessions/$session", "/sessions/$session tree", "/sessions/$session settings", "palette"],
  prompt: ["/sessions/$session"],
  attached: ["/sessions/$session echo"],
  rule: ["/sessions/$session settings"],
  board: ["/boards", "/boards/$board"],
  zone: ["/boards/$board"],
  "zone-prompt": ["/boards/$board zone"],
  loop: ["/", "/loops", "/loops/$loop"],
  spec: ["/loops/$loop"],
  key: ["/keys"],
  email: ["/users"],
  asked: ["/audit"],
};

export const tag = (field: string) => `at-${field} `;

/** Markup for a field of one short line. */
export const short = (field: string) => `${tag(field)}${MARKUP[1] ?? ""}`;

/** All of it, for a field that takes a text; nobody stores a NUL. */
export const long = (field: string) => `${tag(field)}${WORST.join("\n").replaceAll("\u0000", "")}`;
