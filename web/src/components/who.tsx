import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { sessionList, shortId } from "@/api/queries";

import { Name } from "./name";

/** A session by its title, or by its id when it is not among those that are known. */
export function SessionLink({ id }: { id: string }) {
  const title = useQuery(sessionList).data?.sessions.find((session) => session.id === id)?.title;
  return (
    <Link to="/sessions/$session" params={{ session: id }} className="min-w-0 truncate text-accent underline">
      <Name>{title ?? `Session ${id}`}</Name>
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
