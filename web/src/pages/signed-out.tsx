import { useEffect } from "react";

/** Said to a browser that nobody signed in. */
export function SignedOut() {
  useEffect(() => {
    document.title = "Wheelhouse";
  }, []);
  return (
    <main className="mx-auto flex h-full max-w-lg flex-col justify-center gap-3 p-6">
      <h1 className="text-xl font-semibold">You are not signed in</h1>
      <p className="text-muted">
        On the server’s machine run <code className="rounded bg-sunken px-1 font-mono">wheelhouse login</code> and open the link it
        prints. <code className="rounded bg-sunken px-1 font-mono">wheelhouse serve</code> prints one when it starts, too. A link
        works once.
      </p>
    </main>
  );
}
