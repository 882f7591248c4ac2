import { Link } from "@tanstack/react-router";

import { shortId } from "@/api/queries";
import { useSessionTitle } from "@/hooks/use-session-title";

import { Name } from "./name";

/** A session by its title, or by its id as long as that is not known. */
export function SessionLink({ id }: { id: string }) {
  const title = useSessionTitle(id);
  return (
    <Link to="/sessions/$session" params={{ session: id }} className="min-w-0 truncate text-accent underline">
      <Name>{title}</Name>
    </Link>
  );
}

/** Who said or decided something: a person, or an agent on somebody's behalf. */
export function Who({ name, session }: { name: string; session?: string | null }) {
  return session ? (
    <>
      <SessionLink id={shortId(session)} /> for <Name>{name}</Name>
    </>
  ) : (
    <Name>{name}</Name>
  );
}
