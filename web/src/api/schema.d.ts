// Made by `npm run api` from the server's OpenAPI document; do not edit.

export interface paths {
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the agents on the server's machine */
        get: operations["agent_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows an agent and what is missing for it */
        get: operations["agent_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists what agents wait for, newest first */
        get: operations["approval_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{approval}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allows or denies what an agent asks */
        post: operations["approval_answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists calls, newest first */
        get: operations["audit_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copies the database into a file on the server's machine */
        post: operations["backup_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/boards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists boards, newest first */
        get: operations["board_list"];
        put?: never;
        /** Makes a board */
        post: operations["board_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/boards/{board}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a board with its zones and what lies on it */
        get: operations["board_get"];
        put?: never;
        post?: never;
        /** Deletes a board. Refuses when something depends on it, unless forced */
        delete: operations["board_delete"];
        options?: never;
        head?: never;
        /** Changes a board; what is absent stays */
        patch: operations["board_update"];
        trace?: never;
    };
    "/api/v1/boards/{board}/cards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the sessions and worktrees that belong to a board or lie on it */
        get: operations["board_cards"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/boards/{board}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copies a board */
        post: operations["board_duplicate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/boards/{board}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Shares a board and the sessions on it with everyone or with a user, or no longer */
        put: operations["board_share"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows every setting that changes at run time */
        get: operations["config_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one setting */
        get: operations["config_get_one"];
        /** Changes a setting, or goes back to its default */
        put: operations["config_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the credentials for hosts of repositories, newest first, without their tokens */
        get: operations["credential_list"];
        put?: never;
        /** Stores a credential for a host, encrypted, in place of the one before it */
        post: operations["credential_set"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/credentials/{credential}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes a stored credential */
        delete: operations["credential_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the change feed, or follows it by SSE or WebSocket */
        get: operations["event_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/iterations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Records what an iteration came to */
        post: operations["iteration_summary"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists keys without their secrets, newest first */
        get: operations["key_list"];
        put?: never;
        /** Makes a key and shows its secret, this once */
        post: operations["key_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes a key: from now on it lets nobody in */
        delete: operations["key_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a link that signs a browser in, once */
        post: operations["login_link_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Signs the calling browser out */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists loops, newest first */
        get: operations["loop_list"];
        put?: never;
        /** Starts a loop */
        post: operations["loop_start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says that the work of a list is done */
        post: operations["loop_complete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops/{loop}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a loop and how its work stands */
        get: operations["loop_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops/{loop}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns what happened in a loop, in order */
        get: operations["loop_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops/{loop}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lets a loop rest after the iteration that is under way */
        post: operations["loop_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops/{loop}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resumes a loop that is paused or has reached one of its limits, with new limits if they are given */
        post: operations["loop_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops/{loop}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a loop, and the iteration that is under way with it */
        post: operations["loop_stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{message}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one message whole */
        get: operations["message_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists notes, the latest first */
        get: operations["note_list"];
        put?: never;
        /** Adds notes to a list */
        post: operations["note_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/repos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists repositories, newest first */
        get: operations["repo_list"];
        put?: never;
        /** Adds a repository */
        post: operations["repo_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/repos/{repo}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes a repository from the server. Refuses when something depends on it, unless forced */
        delete: operations["repo_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/repos/{repo}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Checks that a repository can be read, and with which credential */
        get: operations["repo_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/repos/{repo}/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Shows the project configuration of coding agents in a repository, and approves it by its SHA-256 */
        post: operations["repo_trust"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Finds words in the transcripts of every session within reach */
        get: operations["session_search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/server/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the values that the server was started with */
        get: operations["server_config_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists sessions, newest first */
        get: operations["session_list"];
        put?: never;
        /** Begins a session */
        post: operations["session_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts sessions by stage, such as needs_you, working, ready */
        get: operations["session_counts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the session whose token is calling */
        get: operations["session_current"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Waits until sessions are at rest, ended or in need of an answer */
        get: operations["session_wait"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{parent}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begins a session under another and, if asked to, waits for what comes of its prompt */
        post: operations["session_spawn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a session */
        get: operations["session_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes a session's title, description, budget or model */
        patch: operations["session_update"];
        trace?: never;
    };
    "/api/v1/sessions/{session}/forks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Branches a session off another at one of its turns */
        post: operations["session_fork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/interrupt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the running turn of a session, or cancels a queued prompt */
        post: operations["session_interrupt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/manage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts, stops, archives, restores or deletes a session */
        post: operations["session_manage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a transcript; by default only the latest thing the agent said */
        get: operations["message_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a prompt to a session and, if asked to, waits for what comes of it */
        post: operations["session_prompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the processes a session had, latest first, with the last of their stderr */
        get: operations["run_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a session's ancestors, siblings and descendants */
        get: operations["session_tree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists a session's turns, latest first */
        get: operations["turn_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists tasks by status, the most urgent first */
        get: operations["task_list"];
        put?: never;
        /** Adds tasks to a list */
        post: operations["task_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Returns the next task, and hands it to the caller alone if asked to */
        post: operations["task_next"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes a task */
        patch: operations["task_update"];
        trace?: never;
    };
    "/api/v1/turns/{turn}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a turn */
        get: operations["turn_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/turns/{turn}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a file that came with a turn's prompt */
        get: operations["turn_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sums what was spent, by day, by agent and by tree of sessions */
        get: operations["usage_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists users, newest first */
        get: operations["user_list"];
        put?: never;
        /** Makes a user */
        post: operations["user_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a user, by id or name */
        get: operations["user_get"];
        put?: never;
        post?: never;
        /** Deletes a user; with force also one who owns something, which becomes the caller's */
        delete: operations["user_delete"];
        options?: never;
        head?: never;
        /** Changes a user's role, email or allowed directories, or disables the user and stops their sessions */
        patch: operations["user_update"];
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists webhooks, newest first */
        get: operations["webhook_list"];
        put?: never;
        /** Makes a webhook and shows its secret, once */
        post: operations["webhook_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes a webhook and what it was to be told */
        delete: operations["webhook_delete"];
        options?: never;
        head?: never;
        /** Turns a webhook on or off */
        patch: operations["webhook_update"];
        trace?: never;
    };
    "/api/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Says who is calling */
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worktrees": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists worktrees, newest first */
        get: operations["worktree_list"];
        put?: never;
        /** Makes a worktree */
        post: operations["worktree_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worktrees/{worktree}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a worktree: its state, what is not committed, its size and its sessions */
        get: operations["worktree_get"];
        put?: never;
        post?: never;
        /** Removes a worktree; its branch stays. Refuses when something would be lost, or saves it first */
        delete: operations["worktree_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worktrees/{worktree}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows what a worktree changed, committed or not */
        get: operations["worktree_diff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worktrees/{worktree}/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Merges a worktree's branch into another, or changes nothing */
        post: operations["worktree_merge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Who is calling. */
        WhoAmIView: {
            user: components["schemas"]["UserView"];
            /** @description local, browser, full, read, client or session */
            credential: string;
            key_id?: string | null;
            session_id?: string | null;
        };
        /** @description A user. */
        UserView: {
            id: string;
            short_id: string;
            name: string;
            /** @description admin or member */
            role: string;
            email?: string | null;
            avatar_url?: string | null;
            created_at: string;
            /** @description Since when they are not let in. */
            disabled_at?: string | null;
            /** @description Directories on the server's machine that this user may use for `path` sessions and local repositories. */
            local_roots?: string[];
        };
        /** @description What the server was started with. */
        ServerConfigView: {
            values: components["schemas"]["StartValueView"][];
        };
        /** @description A value that is read when the server starts. */
        StartValueView: {
            key: string;
            /** @description The value in force. A secret is only said to be there. */
            value: unknown;
            /** @description default, the file with the line, the environment variable or the flag that it comes from. */
            source: string;
            about: string;
        };
        /** @description A link that signs a browser in, once. */
        LoginLinkView: {
            url: string;
            expires_at: string;
        };
        /** @description Who is to be signed in. */
        LoginLinkCreateRequest: {
            /** @description A user's id or name; you unless given. */
            user?: string | null;
        };
        /** @description Nothing. */
        Empty: Record<string, never>;
        /** @description A copy that was made. */
        BackupCreatedView: {
            file: string;
            /**
             * Format: uint64
             * @description The number of the last event in the copy.
             */
            through: number;
        };
        /** @description Where to put a copy of the database. */
        BackupCreateRequest: {
            /** @description An absolute path on the server's machine; the file must not exist. */
            file: string;
        };
        /** @description Some users, newest first. */
        UserListView: {
            users: components["schemas"]["UserView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A user to make. */
        UserCreateRequest: {
            /** @description The name to sign in under: letters, digits and . _ - @ + */
            name: string;
            /** @description admin or member; member unless given. */
            role?: string | null;
            email?: string | null;
            avatar_url?: string | null;
            /** @description A mark of your choice: a repeat with the same mark makes no second user. */
            idempotency_key?: string | null;
        };
        /** @description Something that was deleted. */
        DeletedView: {
            id: string;
            name: string;
            /** @description Dependent resources that were detached, stopped, handed over or deleted. */
            dependents?: components["schemas"]["DependentsView"][];
            /** @description Where the server keeps its clone of a repository, with branches and saved work that may be nowhere else. */
            kept?: string | null;
        };
        /** @description Dependent resources of one kind. */
        DependentsView: {
            /** @description sessions, worktrees, loops, tasks, notes, webhooks, boards, repos, keys, shares or credentials */
            kind: string;
            /** Format: uint64 */
            count: number;
            /** @description The ids of the first few. */
            first: string[];
        };
        /** @description Some keys, newest first. */
        KeyListView: {
            keys: components["schemas"]["KeyView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A key, without its secret. */
        KeyView: {
            id: string;
            short_id: string;
            user_id: string;
            name: string;
            /** @description full, read, client, session, session_internal or browser */
            scope: string;
            /** @description The dialect it was made for, if it was made for one. */
            dialect?: string | null;
            /** @description The session it is bound to, if it is bound to one. */
            session_id?: string | null;
            /** @description How the secret begins. */
            prefix: string;
            /** @description active, expired or revoked */
            status: string;
            created_at: string;
            expires_at?: string | null;
            last_used_at?: string | null;
            revoked_at?: string | null;
        };
        /** @description A key that was made. */
        KeyCreatedView: {
            /** @description The secret, shown this once; absent when the request repeats an earlier one. */
            key?: string | null;
            id: string;
            short_id: string;
            user_id: string;
            name: string;
            /** @description full, read, client, session, session_internal or browser */
            scope: string;
            /** @description The dialect it was made for, if it was made for one. */
            dialect?: string | null;
            /** @description The session it is bound to, if it is bound to one. */
            session_id?: string | null;
            /** @description How the secret begins. */
            prefix: string;
            /** @description active, expired or revoked */
            status: string;
            created_at: string;
            expires_at?: string | null;
            last_used_at?: string | null;
            revoked_at?: string | null;
        };
        /** @description A key to make. */
        KeyCreateRequest: {
            /** @description What the key is for. */
            name: string;
            /**
             * @description full (everything of its user), read (the same, changing nothing), client (only what the key itself creates) or, with
             *     dialect and session, session_internal (that session's name).
             */
            scope: string;
            /** @description Whose it will be, by id or name; yours unless given. */
            user?: string | null;
            /** @description When it ends, in RFC 3339, such as 2027-01-31T00:00:00Z; never unless given. */
            expires_at?: string | null;
            /** @description clawed-abode creates a `ca_` key, which opens /mcp/clawed-abode and /api/mcp alone; scope full, read or session_internal. */
            dialect?: string | null;
            /** @description The session that a session_internal key may rename. */
            session?: string | null;
            /** @description A mark of your choice: a repeat with the same mark makes no second key (and shows no secret again). */
            idempotency_key?: string | null;
        };
        /** @description Some repositories, newest first. */
        RepoListView: {
            repos: components["schemas"]["RepoView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A git repository known to the server. */
        RepoView: {
            id: string;
            short_id: string;
            name: string;
            /** @description The path or address it was added by. */
            source: string;
            /** @description local or remote */
            kind: string;
            default_branch?: string | null;
            /** @description ready; pending while it is being cloned; or failed */
            state: string;
            /** @description Why it could not be cloned. */
            failure?: string | null;
            /** @description Source of the credential it is cloned with: own, server, configuration or gh; absent without one. */
            credential?: string | null;
            /** @description The least containment that sessions in it need, if it asks for more than the server does. */
            tier?: string | null;
            /** @description Container image for sessions in it, in the tier container. */
            image?: string | null;
            /** @description The tools of agents in it, if it names any. */
            mcp_dialect?: string | null;
            owner_id: string;
            created_at: string;
        };
        /** @description A repository to add. */
        RepoAddRequest: {
            /** @description An absolute path on the server's machine, an https:// or ssh:// address, or user@host:path. */
            source: string;
            /** @description What to call it; the last part of the source unless given. */
            name?: string | null;
            /** @description The least containment that sessions in it need; the server's minimum unless given. */
            tier?: string | null;
            /** @description Container image for sessions in it, in the tier container. Administrators only. */
            image?: string | null;
            /** @description The tools of agents in it: wheelhouse, agor, clawed-abode or iteratr; as the agent is configured unless given. */
            mcp_dialect?: string | null;
            /** @description A mark of your choice: a repeat with the same mark adds nothing twice. */
            idempotency_key?: string | null;
        };
        /** @description Whether a repository can be read. */
        RepoCheckView: {
            repo_id: string;
            name: string;
            source: string;
            /** @description local, credential (read with one), anonymous (readable without), refused, not_found or unreachable */
            access: string;
            /** @description Whether its host answered as a git server. */
            reachable: boolean;
            /** @description Whether it was read with a credential. */
            authenticated: boolean;
            /** @description Where the credential comes from: own, server, configuration or gh; absent without one. */
            credential?: string | null;
            default_branch?: string | null;
            /** @description Why it cannot be read. */
            problem?: string | null;
        };
        /** @description Files of a repository from which coding agents read what they run or are permitted. */
        RepoTrustView: {
            repo_id: string;
            /** @description The branch with its commit, or the directory, that was read. */
            source: string;
            configs: components["schemas"]["ProjectConfigView"][];
            /** @description Approvals of other content than what is shown. */
            other_approvals?: components["schemas"]["ConfigApprovalView"][];
        };
        /** @description One configuration file or directory. */
        ProjectConfigView: {
            /** @description Such as .mcp.json or .claude/ */
            path: string;
            /** @description The agents that read it. */
            agents: string[];
            /** @description The hash to approve; absent when it cannot be approved. */
            sha256?: string | null;
            approved: boolean;
            /** @description Why it cannot be approved. */
            problem?: string | null;
            files: components["schemas"]["ProjectConfigFileView"][];
        };
        /** @description A file of project configuration. */
        ProjectConfigFileView: {
            path: string;
            executable: boolean;
            /** Format: uint64 */
            bytes: number;
            /** @description The beginning of its content. */
            text: string;
            truncated: boolean;
        };
        /** @description An approval of project configuration. */
        ConfigApprovalView: {
            /** @description Such as .mcp.json or .claude */
            path: string;
            sha256: string;
        };
        /** @description Every agent, the built-in one first. */
        AgentListView: {
            agents: components["schemas"]["AgentView"][];
        };
        /** @description Something that can be run in a session. */
        AgentView: {
            name: string;
            title: string;
            about: string;
            /** @description built_in, installed or configured */
            origin: string;
            /** @description Whether it can be run now. */
            ready: boolean;
            version?: string | null;
            /** @description Programs that were not found. */
            missing?: string[];
            /** @description How to get what is missing. */
            install?: string[];
            /** @description The models that it offered last; only told of one agent, and once a session of it was open. */
            models?: components["schemas"]["AgentModelView"][];
        };
        /** @description A model that an agent offers. */
        AgentModelView: {
            /** @description What to give as `model`. */
            id: string;
            name: string;
        };
        /** @description Some boards, newest first. */
        BoardListView: {
            boards: components["schemas"]["BoardSummaryView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A board in a list. */
        BoardSummaryView: {
            id: string;
            short_id: string;
            name: string;
            owner_id: string;
            /** Format: uint */
            zones: number;
            /** Format: uint */
            items: number;
            updated_at: string;
        };
        /** @description A zone to add or, by its id or name, to change. */
        ZoneInputRequest: {
            /** @description The zone to change; a new one is added unless given. */
            zone?: string | null;
            name?: string | null;
            /** @description Such as #3366ff. */
            color?: string | null;
            /** Format: double */
            x?: number | null;
            /** Format: double */
            y?: number | null;
            /** Format: double */
            width?: number | null;
            /** Format: double */
            height?: number | null;
            /**
             * @description Makes a prompt for the session, or the worktree's newest one, that is placed in the zone, such as "Review {{ worktree.branch }}".
             *     Can name fields of board, session, worktree and zone, and use if. Empty: prompts no longer.
             */
            prompt_template?: string | null;
            /** @description The agent whose session is begun in a worktree that is placed in the zone and has none to prompt. */
            agent?: string | null;
        };
        /** @description A board with its zones and what lies on it. */
        BoardView: {
            id: string;
            short_id: string;
            name: string;
            description?: string | null;
            owner_id: string;
            zones: components["schemas"]["ZoneView"][];
            items: components["schemas"]["PlacementView"][];
            /** @description Whom it is shared with; only what concerns you, if it is not yours. */
            shares?: components["schemas"]["ShareView"][];
            /** @description Whether you may change it. */
            can_change: boolean;
            /**
             * Format: uint64
             * @description Counts the changes.
             */
            revision: number;
            created_at: string;
            updated_at: string;
        };
        /** @description A labelled area of a board. */
        ZoneView: {
            id: string;
            name: string;
            color?: string | null;
            /** Format: double */
            x: number;
            /** Format: double */
            y: number;
            /** Format: double */
            width: number;
            /** Format: double */
            height: number;
            prompt_template?: string | null;
            agent?: string | null;
        };
        /** @description Something on a board and where it lies. */
        PlacementView: {
            kind: components["schemas"]["ItemKind"];
            id: string;
            /** Format: double */
            x: number;
            /** Format: double */
            y: number;
            zone_id?: string | null;
        };
        /**
         * @description What can lie on a board.
         * @enum {string}
         */
        ItemKind: "worktree" | "session";
        /** @description A grant on a board. */
        ShareView: {
            /** @description everyone, or a user's name */
            with: string;
            /** @description read or prompt */
            level: string;
        };
        /** @description A board to make. */
        BoardCreateRequest: {
            name: string;
            description?: string | null;
            /** @description Zones to begin with. */
            zones?: components["schemas"]["ZoneInputRequest"][];
            /** @description A mark of your choice: a repeat with the same mark makes no second board. */
            idempotency_key?: string | null;
        };
        /** @description All that is to be seen on a board, newest first. */
        BoardCardsView: {
            /** @description Sessions that belong to it, lie on it, or work in a worktree that lies on it. */
            sessions: components["schemas"]["SessionCardView"][];
            /** @description Worktrees that belong to it or lie on it. */
            worktrees: components["schemas"]["WorktreeCardView"][];
        };
        /** @description A session in a list, and what it is at. */
        SessionCardView: {
            /** @description The last 8 digits of the session's id, accepted wherever an id is. */
            id: string;
            title: string;
            agent: string;
            state: string;
            /** @description What that means for whoever looks: needs_you, working, in_review, ready_to_merge, ready or done */
            stage: string;
            /** @description Why it failed. */
            failure?: string | null;
            /** @description Which part of its own budget is used up: no prompt is run any more. */
            budget_spent?: string | null;
            /** @description How far its processes are contained; absent for guarded, the default. */
            tier?: string | null;
            archived?: boolean;
            /** @description The last 8 digits of its parent's id. */
            parent?: string | null;
            /** @description The last 8 digits of its worktree's id. */
            worktree?: string | null;
            /** @description The branch it works on. */
            branch?: string | null;
            changes?: components["schemas"]["ChangesView"] | null;
            /** @description The latest thing the agent said, shortened. */
            last_words?: string | null;
            created_at: string;
            updated_at: string;
            /**
             * Format: uint64
             * @description Millionths of a US dollar; absent when it cost nothing.
             */
            cost_micros?: number | null;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
        };
        /** @description What a worktree had to show when its latest turn ended, or it was merged. */
        ChangesView: {
            /**
             * Format: uint64
             * @description Lines that differ from where it began, committed or not.
             */
            added: number;
            /** Format: uint64 */
            deleted: number;
            /**
             * Format: uint64
             * @description Commits since it began.
             */
            ahead: number;
            /**
             * Format: uint64
             * @description Commits that are neither in the branch it began at nor in the repository's default branch.
             */
            unmerged: number;
            /** @description Whether something is not committed. */
            dirty: boolean;
        };
        /** @description A worktree on a board. */
        WorktreeCardView: {
            /** @description The last 8 digits of the worktree's id, accepted wherever an id is. */
            id: string;
            name: string;
            repo: string;
            branch: string;
            state: string;
            changes?: components["schemas"]["ChangesView"] | null;
            created_at: string;
        };
        /** @description Something to place on a board. */
        PlaceInput: {
            kind: components["schemas"]["ItemKind"];
            id: string;
            /**
             * Format: double
             * @default 0
             */
            x: number;
            /**
             * Format: double
             * @default 0
             */
            y: number;
            /** @description The zone it belongs to, by id or name. */
            zone?: string | null;
        };
        /** @description Names something that lies on a board. */
        ItemInput: {
            kind: components["schemas"]["ItemKind"];
            id: string;
        };
        /** @description Settings as they are in force. */
        ConfigView: {
            settings: components["schemas"]["SettingView"][];
        };
        /** @description A setting as it is in force. */
        SettingView: {
            key: string;
            /**
             * Format: int64
             * @description Absent: no limit.
             */
            value?: number | null;
            /** @description What the value is called, for settings whose values have names. */
            value_name?: string | null;
            /** @description What the values are called, from min on. */
            names?: string[];
            /** @description default, or set when somebody set it */
            source: string;
            about: string;
            /** Format: int64 */
            min: number;
            /** Format: int64 */
            max: number;
        };
        /** @description A setting's value as callers write it. */
        SettingInput: number | string;
        /**
         * @description Some calls, newest first. There may be fewer than asked for, even none, and yet a next page: calls are looked through
         *     50000 at a time.
         */
        AuditListView: {
            entries: components["schemas"]["AuditEntryView"][];
            next_cursor?: string | null;
        };
        /** @description One call that reached the application. */
        AuditEntryView: {
            /** Format: uint64 */
            seq: number;
            at: string;
            request_id: string;
            user_id: string;
            /** @description The user's name, also after the user was deleted. */
            user?: string | null;
            /** @description local, browser, full, read, client or session */
            credential: string;
            key_id?: string | null;
            session_id?: string | null;
            /** @description mcp, rest or server */
            surface: string;
            operation: string;
            subject_kind?: string | null;
            subject_id?: string | null;
            /** @description ok, or the code of the refusal */
            outcome: string;
            facts?: {
                [key: string]: string;
            };
        };
        /** @description Some sessions, newest first. */
        SessionListView: {
            sessions: components["schemas"]["SessionCardView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description How many sessions there are, without archived ones. */
        SessionCountsView: {
            /** Format: uint64 */
            total: number;
            /**
             * Format: uint64
             * @description They wait for an answer, failed, were interrupted, or have used up their budget.
             */
            needs_you: number;
            /** Format: uint64 */
            working: number;
            /** Format: uint64 */
            in_review: number;
            /** Format: uint64 */
            ready_to_merge: number;
            /** Format: uint64 */
            ready: number;
            /** Format: uint64 */
            done: number;
        };
        /** @description A session. */
        SessionView: {
            id: string;
            short_id: string;
            title: string;
            description?: string | null;
            agent: string;
            role: string;
            /**
             * @description creating, idle, running, waiting, reviewing, stopping, stopped, interrupted, completed, failed, terminated or
             *     abandoned
             */
            state: string;
            /** @description Why it failed. */
            failure?: string | null;
            archived: boolean;
            owner_id: string;
            /** @description What you may do with it when it is somebody else's who shares it with you: read or prompt; only told of one session. */
            shared?: string | null;
            parent_id?: string | null;
            /** @description The session and turn that it was forked from. */
            forked_from?: components["schemas"]["ForkedFromView"] | null;
            repo_id?: string | null;
            worktree_id?: string | null;
            board_id?: string | null;
            /** @description own, shared or none. */
            workspace: string;
            /** @description Where it works when that is not a worktree. */
            path?: string | null;
            /** @description The agent's way of working, if another than its usual one was asked for. */
            mode?: string | null;
            /** @description The model in use, as the agent says; the requested one until then. */
            model?: string | null;
            /** @description The model that was requested, if one was. */
            model_requested?: string | null;
            /** @description Requested containment tier: none, guarded, strict or container. */
            tier: string;
            /** @description How far those of its latest run are, and by what: such as guarded/namespaces; absent before the first run. */
            effective_tier?: string | null;
            /** @description The hosts that it may connect to, if it has a list of its own. */
            hosts?: string[] | null;
            /** @description Which part of its own budget is used up: no prompt is run until it is raised. */
            budget_spent?: string | null;
            /** @description The tools that its agent is given, if they are not Wheelhouse's own: agor, clawed-abode or iteratr. */
            mcp_dialect?: string | null;
            /** @description What it may use; what is absent is not limited. */
            budget: components["schemas"]["BudgetInput"];
            /** @description What its agent may do without asking. */
            policy: components["schemas"]["PolicyInput"];
            /**
             * Format: uint64
             * @description How often its process was started.
             */
            runs: number;
            /**
             * @description Whether its agent has reached Wheelhouse's tools: unused (not yet, and nothing is wrong), connected, or broken (it should
             *     have by now); only told of one session, and while it has a process.
             */
            tools_link?: string | null;
            /**
             * Format: uint64
             * @description The number of the latest message.
             */
            last_seq: number;
            /** @description The latest thing the agent said, shortened. */
            last_words?: string | null;
            /** Format: uint64 */
            tokens_used: number;
            /** Format: uint64 */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate from tokens and list prices, because the agent reports no money.
             */
            estimated_micros?: number;
            /** @description The models that its agent offers; only told of one session. */
            models?: components["schemas"]["AgentModelView"][];
            /** @description The commands that its agent takes at the beginning of a prompt; only told of one session. */
            commands?: components["schemas"]["AgentCommandView"][];
            /** @description Terms that are not as requested; only when a session is created. */
            narrowed?: components["schemas"]["NarrowedView"][];
            created_at: string;
            updated_at: string;
        };
        /** @description Where a session was forked from. */
        ForkedFromView: {
            session_id: string;
            /**
             * Format: uint64
             * @description The number of the last turn that both have.
             */
            turn: number;
            /** @description Uncommitted files of that turn: taken, left, or none when none are kept of it; only told when the fork is created. */
            uncommitted?: string | null;
        };
        /** @description What a session may use. It is stopped no later than the end of the turn that uses it up. */
        BudgetInput: {
            /** Format: uint64 */
            tokens?: number | null;
            /**
             * Format: uint64
             * @description Millionths of a US dollar.
             */
            cost_micros?: number | null;
            /**
             * Format: uint64
             * @description Seconds at work.
             */
            wall_seconds?: number | null;
            /** Format: uint64 */
            turns?: number | null;
        };
        /** @description What the agent may do without asking. A refusal wins over an allowance. */
        PolicyInput: {
            /** @description ask (unless given), allow or deny: what holds where no rule fits. */
            default?: string | null;
            allow?: components["schemas"]["PolicyRuleInput"][];
            deny?: components["schemas"]["PolicyRuleInput"][];
            /** @description human (unless given) or parent: who is asked. */
            route?: string | null;
            /**
             * Format: uint32
             * @description Seconds until silence is a refusal.
             */
            timeout_seconds?: number | null;
        };
        /** @description Fits requests of some kinds that touch only some places. */
        PolicyRuleInput: {
            /** @description read, edit, delete, move, search, execute, think, fetch, switch_mode, other; every kind unless given. */
            kinds?: string[];
            /** @description Directories or files, relative to where the agent works; everywhere unless given. */
            paths?: string[];
        };
        /** @description A command that an agent takes at the beginning of a prompt. */
        AgentCommandView: {
            /** @description Without the slash. */
            name: string;
            about: string;
        };
        /** @description A term that is not as it was requested. */
        NarrowedView: {
            /** @description budget.tokens, budget.cost_micros, budget.wall_seconds, budget.turns, policy, model, mode or tier. */
            setting: string;
            requested?: components["schemas"]["TermView"] | null;
            /** @description What applies; absent when the agent chooses. */
            applied?: components["schemas"]["TermView"] | null;
        };
        /** @description A limit, a name or a policy. */
        TermView: number | string | components["schemas"]["PolicyInput"];
        /** @description A session's family. */
        SessionTreeView: {
            /** @description The session that was asked about. */
            session: string;
            /** @description Every session of the tree that you may open, parents before children. */
            tree: components["schemas"]["SessionTreeNode"][];
            /** @description For agents: the other sessions around yours, by title and state alone. */
            others?: components["schemas"]["SessionOutlineView"][];
            /**
             * Format: uint64
             * @description How many sessions are on your board, if `others` lists fewer.
             */
            on_board?: number | null;
        };
        /** @description A session in its family. */
        SessionTreeNode: {
            id: string;
            parent_id?: string | null;
            /** Format: uint32 */
            depth: number;
            title: string;
            agent: string;
            state: string;
            /** Format: uint64 */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            last_words?: string | null;
        };
        /** @description A related session that you cannot open. */
        SessionOutlineView: {
            /** @description ancestor (your parent comes first), sibling, or board for one on the same board. */
            relation: string;
            title: string;
            state: string;
        };
        /** @description A file that comes with a prompt. */
        PromptFileInput: {
            /** @description What it is called, without a path. */
            name: string;
            /** @description What is in it, in base64. */
            data: string;
        };
        /** @description A session to begin. */
        SessionCreateRequest: {
            /** @description An agent of agent_list, such as claude-code, codex or echo. */
            agent: string;
            /** @description What the agent is to do first. */
            prompt?: string | null;
            /** @description Files with the prompt: at most 8, and 8 MiB together. */
            files?: components["schemas"]["PromptFileInput"][];
            /** @description Made of the prompt unless given. */
            title?: string | null;
            description?: string | null;
            /** @description The role of the agent's token: general (default), planning, coding, review or worker; lead reaches all that you own. Not by agents. */
            role?: string | null;
            /** @description Work in a new worktree of this repository: its id or name. */
            repo?: string | null;
            /** @description With repo: a branch that exists is checked out, another is made; named after the session unless given. */
            branch?: string | null;
            /** @description With repo: the branch or full commit at which a new branch begins. */
            base?: string | null;
            /** @description Work in this worktree, or in that of this session. */
            worktree?: string | null;
            /** @description A directory of the server to work in as it is. */
            path?: string | null;
            board?: string | null;
            /** @description Of the board, by id or name. */
            zone?: string | null;
            /** @description The agent's own name of a way of working, such as plan. */
            mode?: string | null;
            /** @description The agent's name of a model, as agent_get lists them. */
            model?: string | null;
            /** @description Containment: guarded (default), strict, container, or none where an administrator allows it. */
            tier?: string | null;
            /** @description In strict and container: hosts it may connect to, such as *.example.org:8443; all allowed ones unless given. */
            hosts?: string[] | null;
            /** @description The agent's tools: wheelhouse, agor, clawed-abode or iteratr; as configured unless given. */
            mcp_dialect?: string | null;
            budget?: components["schemas"]["BudgetInput"] | null;
            policy?: components["schemas"]["PolicyInput"] | null;
            /** @description A repeat with the same key begins nothing twice. */
            idempotency_key?: string | null;
        };
        /** @description What a prompt has come to so far. */
        PromptedView: {
            /** @description The session's id. */
            session: string;
            /** @description The session's state. */
            state: string;
            turn: components["schemas"]["TurnView"];
            /** @description The agent's latest words in this turn. */
            words?: string | null;
            /** @description What the agent waits for; answer with approval_answer. */
            approvals?: components["schemas"]["ApprovalView"][];
            /** @description What applies to a session that was just spawned. */
            terms?: components["schemas"]["SessionTermsView"] | null;
        };
        /** @description A turn: one prompt and what came of it. */
        TurnView: {
            /** @description The last 8 digits of the turn's id, accepted wherever an id is. */
            id: string;
            /**
             * Format: uint64
             * @description Counts the session's turns from 1.
             */
            number: number;
            /** @description queued, running, completed, cancelled or failed */
            state: string;
            /** @description Whether it interrupts the running turn and goes before other queued prompts. */
            urgent?: boolean;
            /** @description Why it did not end well. */
            reason?: string | null;
            /** Format: uint64 */
            tokens_used: number;
            /** Format: uint64 */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            commit_before?: string | null;
            commit_after?: string | null;
            created_at: string;
            finished_at?: string | null;
        };
        /** @description Something only a person or a parent may settle. */
        ApprovalView: {
            /** @description The last 8 digits of the approval's id, accepted wherever an id is. */
            id: string;
            /** @description The session's id. */
            session: string;
            /** @description permission, question or plan */
            kind: string;
            /** @description pending, allowed, denied, timed_out or withdrawn */
            state: string;
            /** @description What is asked, in the agent's words. */
            text: string;
            /** @description The exact call and the options, as the agent sent them. */
            detail?: unknown;
            /** @description The answer, or why it was refused. */
            answer?: string | null;
            /** @description Who settled it; nobody when a rule or the clock did. */
            answered_by?: string | null;
            /** @description The session that settled it, if an agent did. */
            answered_by_session_id?: string | null;
            /** @description When silence becomes a refusal. */
            expires_at?: string | null;
            created_at: string;
        };
        /** @description What applies to a session that was just created. */
        SessionTermsView: {
            agent: string;
            model?: string | null;
            mode?: string | null;
            /** @description own, shared or none. */
            workspace: string;
            tier: string;
            /** @description What it may use; what is absent is not limited. */
            budget: components["schemas"]["BudgetInput"];
            /** @description What its agent may do without asking. */
            policy: components["schemas"]["PolicyInput"];
            /** @description Terms that are not as requested, because of the parent, the server or the agent. */
            narrowed?: components["schemas"]["NarrowedView"][];
        };
        /** @description What a wait came to. */
        SessionWaitView: {
            /** @description Whether what was waited for came true in time. */
            done: boolean;
            sessions: components["schemas"]["WaitedSessionView"][];
        };
        /** @description A session that was waited for. */
        WaitedSessionView: {
            /** @description The last 8 digits of its id. */
            id: string;
            title: string;
            state: string;
            /** @description At rest, ended, or in need of an answer. */
            done: boolean;
            last_words?: string | null;
        };
        /** @description Some turns of a session, latest first. */
        TurnListView: {
            turns: components["schemas"]["TurnView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A turn with its prompt and all it used. */
        TurnDetailView: {
            /** @description The last 8 digits of the turn's id, accepted wherever an id is. */
            id: string;
            /**
             * Format: uint64
             * @description Counts the session's turns from 1.
             */
            number: number;
            /** @description queued, running, completed, cancelled or failed */
            state: string;
            /** @description Whether it interrupts the running turn and goes before other queued prompts. */
            urgent?: boolean;
            /** @description Why it did not end well. */
            reason?: string | null;
            /** Format: uint64 */
            tokens_used: number;
            /** Format: uint64 */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            commit_before?: string | null;
            commit_after?: string | null;
            created_at: string;
            finished_at?: string | null;
            /** @description The session's id. */
            session: string;
            prompt: string;
            /** @description Who sent it. */
            sender_user_id: string;
            /** @description The session that sent it, if an agent did. */
            sender_session_id?: string | null;
            /** Format: uint64 */
            input_tokens: number;
            /** Format: uint64 */
            cached_tokens: number;
            /** Format: uint64 */
            output_tokens: number;
            /** Format: uint64 */
            wall_seconds: number;
        };
        /** @description A file that came with a prompt. */
        TurnFileView: {
            name: string;
            /** @description By what is in it, never by its name. */
            media_type: string;
            /** Format: uint64 */
            bytes: number;
            /** @description What is in it, in base64. */
            data: string;
        };
        /** @description Some approvals, newest first. */
        ApprovalListView: {
            approvals: components["schemas"]["ApprovalView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A part of a transcript. */
        MessageListView: {
            session: string;
            /** @description What the session is doing. */
            state: string;
            messages: components["schemas"]["MessageView"][];
            /**
             * Format: uint64
             * @description The number of the session's latest message.
             */
            last_seq: number;
            /**
             * Format: uint64
             * @description Pass it as `after` to go on; absent when nothing was left out.
             */
            next_after?: number | null;
            /** @description What the session has been doing, if that was asked for. */
            summary?: components["schemas"]["SummaryView"] | null;
        };
        /** @description One entry of a transcript. */
        MessageView: {
            id: string;
            /** Format: uint64 */
            seq: number;
            /** @description prompt, agent, thought, tool_call, plan, question, answer or system */
            kind: string;
            text: string;
            at: string;
            /** @description Who sent a prompt or gave an answer. */
            sender?: string | null;
            /** @description The session that sent it, if an agent did. */
            sender_session_id?: string | null;
            turn_id?: string | null;
            /** @description The approval that a question, or what became of it, belongs to, by the last 8 digits of its id. */
            approval?: string | null;
            /** @description The rest of it, such as a tool's input and output. */
            detail?: unknown;
        };
        /** @description What a session has been doing, in a few lines. */
        SummaryView: {
            text: string;
            /** @description waiting for input, working, errored or idle */
            state: string;
            /** @description The messages that the text cites; message_get shows one whole. */
            message_ids: string[];
            /** @description The model that wrote it; extract when none did. */
            by: string;
            /** @description Why no model wrote it although one is configured, and how many messages it leaves out. */
            note?: string | null;
        };
        /** @description Messages that hold the words, best first. */
        SessionSearchView: {
            hits: components["schemas"]["SearchHitView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description How many messages hold the words, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A message that holds the words. */
        SearchHitView: {
            session: string;
            message: string;
            /** Format: uint64 */
            seq: number;
            kind: string;
            /** @description A few words around the match. */
            snippet: string;
        };
        /** @description A stretch of the feed. */
        EventListView: {
            events: components["schemas"]["EventView"][];
            /**
             * Format: uint64
             * @description Where to go on: pass it as `after`.
             */
            through: number;
            /** @description Whether there is more right now. */
            more: boolean;
            /** @description The number asked for is not kept: read everything again and go on from `through`. */
            resync?: boolean;
        };
        /** @description Something changed. It says what, not what it changed to: ask for that. */
        EventView: {
            /** Format: uint64 */
            seq: number;
            at: string;
            /** @description What happened: created, updated, state_changed, message_added, log_changed, revoked or deleted */
            kind: string;
            /** @description What it happened to: user, key, repo, worktree, board, session, turn, approval, setting, server or webhook */
            subject_kind: string;
            subject_id: string;
            session_id?: string | null;
            actor_id?: string | null;
            facts?: {
                [key: string]: string;
            };
        };
        /** @description What a follower of the feed receives. */
        FeedView: components["schemas"]["EventView"] | {
            /** @constant */
            type: "resync";
            /** Format: uint64 */
            through: number;
        } | {
            /** @constant */
            type: "idle";
            /** Format: uint64 */
            through: number;
        };
        /** @description Some worktrees, newest first. */
        WorktreeListView: {
            worktrees: components["schemas"]["WorktreeSummaryView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A worktree in a list. */
        WorktreeSummaryView: {
            /** @description The last 8 digits of the worktree's id, accepted wherever an id is. */
            id: string;
            name: string;
            repo: string;
            /** @description The last 8 digits of the repository's id. */
            repo_id: string;
            branch: string;
            state: string;
            path: string;
            /** Format: uint64 */
            disk_bytes?: number | null;
            risks?: components["schemas"]["RiskView"][] | null;
        };
        /** @description One reason not to delete a worktree as it is. */
        RiskView: {
            /** @description dirty, untracked, ignored, stashed, unpushed, detached, in_progress, nested, processes, locked or unreadable */
            kind: string;
            /** Format: uint64 */
            count: number;
            /** Format: uint64 */
            bytes?: number | null;
            names?: string[];
            /** @description Whether a rescue refuses too. */
            stops_rescue: boolean;
        };
        /** @description A checkout of one branch where an agent works. */
        WorktreeView: {
            id: string;
            short_id: string;
            name: string;
            repo_id: string;
            branch: string;
            /** @description The commit it began at. */
            base_sha?: string | null;
            /** @description The directory on the server's machine. */
            path: string;
            /** @description making, ready, removing, removed or, when it was taken away behind our back, missing */
            state: string;
            board_id?: string | null;
            owner_id: string;
            created_at: string;
            removed_at?: string | null;
            /** @description What is missing, if something is: directory_gone, replaced, git_dir_gone */
            missing?: string | null;
            status?: components["schemas"]["WorktreeStatusView"] | null;
            /** Format: uint64 */
            disk_bytes?: number | null;
            /** @description What speaks against removing it as it is. */
            risks?: components["schemas"]["RiskView"][] | null;
            /** @description Sessions that work or worked in it, newest first. */
            sessions?: components["schemas"]["SessionSummaryView"][];
        };
        /** @description What is in a worktree. */
        WorktreeStatusView: {
            head?: string | null;
            /** @description The branch it has now; absent when its head is detached. */
            branch?: string | null;
            /**
             * Format: uint64
             * @description Commits since it began.
             */
            ahead: number;
            /** Format: uint64 */
            behind: number;
            /** @description Whether something is not committed. */
            dirty: boolean;
            /**
             * Format: uint
             * @description How many files are not committed in each way; at most 100 of each are named.
             */
            staged_count: number;
            /** Format: uint */
            unstaged_count: number;
            /** Format: uint */
            untracked_count: number;
            staged?: string[];
            unstaged?: string[];
            untracked?: string[];
            conflicted?: string[];
        };
        /** @description A session in a list: what tells it from others, and no more. */
        SessionSummaryView: {
            /** @description The last 8 digits of the session's id, accepted wherever an id is. */
            id: string;
            title: string;
            agent: string;
            state: string;
            created_at: string;
            /**
             * Format: uint64
             * @description Millionths of a US dollar; absent when it cost nothing.
             */
            cost_micros?: number | null;
        };
        /** @description A worktree to make. */
        WorktreeCreateRequest: {
            /** @description The repository's id or name. */
            repo: string;
            /** @description What it is for; the branch's name unless given. */
            name?: string | null;
            /** @description One that exists is checked out, another is made; wh/NAME-ID unless given. */
            branch?: string | null;
            /** @description The branch or full commit at which a new branch begins; the repository's HEAD unless given. */
            base?: string | null;
            /** @description The board it belongs to. */
            board?: string | null;
            /** @description A mark of your choice: a repeat with the same mark makes no second worktree. */
            idempotency_key?: string | null;
        };
        /** @description What a worktree changed, committed or not. */
        WorktreeDiffView: {
            worktree_id: string;
            branch: string;
            /** @description The commit it is compared with. */
            base: string;
            /**
             * Format: uint64
             * @description Added and deleted lines of all changed files.
             */
            added: number;
            /** Format: uint64 */
            deleted: number;
            files: components["schemas"]["FileChangeView"][];
            /**
             * Format: uint64
             * @description How many changed files come after these.
             */
            files_left: number;
            next_cursor?: string | null;
        };
        /** @description One changed file. */
        FileChangeView: {
            path: string;
            old_path?: string | null;
            /** @description added, deleted, modified, renamed, copied, type_changed or unmerged */
            change: string;
            /** @description file, executable, link or submodule */
            kind: string;
            /**
             * Format: uint64
             * @description Absent for a binary file.
             */
            added?: number | null;
            /** Format: uint64 */
            deleted?: number | null;
            patch?: string | null;
            /** @description Whether the patch is only its beginning. */
            cut?: boolean;
        };
        /** @description How a merge went. */
        WorktreeMergedView: {
            worktree_id: string;
            /** @description The branch that was merged. */
            branch: string;
            /** @description The branch that it was merged into. */
            into: string;
            /** @description up_to_date, fast_forward, merged, or repeated when an earlier request with the same mark did it */
            outcome: string;
            /** @description What the target is at now, if it moved. */
            commit?: string | null;
            /** @description The commit of the changes that were not committed, if there were any and `commit` was given. */
            committed?: string | null;
            /** @description Whether the worktree was removed; only with remove_after. */
            worktree_removed?: boolean | null;
            /** @description Whether the branch was deleted; only with remove_after. */
            branch_deleted?: boolean | null;
            /** @description The git reference that holds what only the removed worktree had, such as ignored files. */
            rescue?: string | null;
            /** @description Why something was not removed after the merge, which was done. */
            not_removed?: string | null;
        };
        /** @description A worktree that is gone. Its branch is not. */
        WorktreeRemovedView: {
            worktree_id: string;
            branch: string;
            state: string;
            /** @description The git reference that holds what was saved; `git switch -c NAME REFERENCE` brings it back. */
            rescue?: string | null;
            /** @description Ignored files that were deleted without being saved. */
            discarded?: string[];
        };
        /** @description Some runs, latest first. */
        RunListView: {
            runs: components["schemas"]["RunView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description One life of a session's process. */
        RunView: {
            /**
             * Format: uint64
             * @description Counts the session's processes from 1.
             */
            epoch: number;
            started_at: string;
            /** @description When the agent was ready to be prompted. */
            ready_at?: string | null;
            /** @description Absent while it runs. */
            ended_at?: string | null;
            /** @description How it ended, in words: stopped, or with which code or signal. */
            ending?: string | null;
            /** @description Whether it went on with the conversation of an earlier run. */
            resumed: boolean;
            /** @description unused, connected or broken: whether the agent has reached our tools */
            tools_link: string;
            /** @description How far its processes were contained, and by what; absent for runs from before that was recorded. */
            tier?: string | null;
            /** @description The agent's way of working, as it said itself; absent when it never said. */
            mode?: string | null;
            /** @description The last that the agent's program wrote to stderr, a second or so ago while it runs. It may hold sequences for terminals. */
            stderr?: string | null;
        };
        /** @description What was spent within a time. A turn counts at the moment it ended; sessions that were deleted are not counted any more. */
        UsageReportView: {
            since: string;
            /** @description The first moment that is not counted. */
            until: string;
            total: components["schemas"]["UsageView"];
            /** @description Days on which a turn ended, earliest first. */
            days: components["schemas"]["UsageDayView"][];
            /** @description By agent, the dearest first. */
            agents: components["schemas"]["UsageAgentView"][];
            other_agents?: components["schemas"]["UsageOthersView"] | null;
            /** @description By tree of sessions, the dearest first. */
            trees: components["schemas"]["UsageTreeView"][];
            other_trees?: components["schemas"]["UsageOthersView"] | null;
        };
        /** @description What was used. */
        UsageView: {
            /**
             * Format: uint64
             * @description Millionths of a US dollar, as agents report it or, for those that do not, as estimated from tokens and prices.
             */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            /**
             * Format: uint64
             * @description Tokens that were read, without those from a cache.
             */
            input_tokens: number;
            /**
             * Format: uint64
             * @description Tokens that were read from a cache.
             */
            cached_tokens: number;
            /** Format: uint64 */
            output_tokens: number;
            /**
             * Format: uint64
             * @description Seconds at work.
             */
            wall_seconds: number;
            /** Format: uint64 */
            turns: number;
        };
        /** @description What was used on a day. */
        UsageDayView: {
            /** @description Such as 2026-11-15. */
            day: string;
            /**
             * Format: uint64
             * @description Millionths of a US dollar, as agents report it or, for those that do not, as estimated from tokens and prices.
             */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            /**
             * Format: uint64
             * @description Tokens that were read, without those from a cache.
             */
            input_tokens: number;
            /**
             * Format: uint64
             * @description Tokens that were read from a cache.
             */
            cached_tokens: number;
            /** Format: uint64 */
            output_tokens: number;
            /**
             * Format: uint64
             * @description Seconds at work.
             */
            wall_seconds: number;
            /** Format: uint64 */
            turns: number;
        };
        /** @description What sessions of an agent used. */
        UsageAgentView: {
            agent: string;
            /**
             * Format: uint64
             * @description Millionths of a US dollar, as agents report it or, for those that do not, as estimated from tokens and prices.
             */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            /**
             * Format: uint64
             * @description Tokens that were read, without those from a cache.
             */
            input_tokens: number;
            /**
             * Format: uint64
             * @description Tokens that were read from a cache.
             */
            cached_tokens: number;
            /** Format: uint64 */
            output_tokens: number;
            /**
             * Format: uint64
             * @description Seconds at work.
             */
            wall_seconds: number;
            /** Format: uint64 */
            turns: number;
        };
        /** @description What those used that are not told one by one. */
        UsageOthersView: {
            /**
             * Format: uint64
             * @description How many they are.
             */
            count: number;
            /**
             * Format: uint64
             * @description Millionths of a US dollar, as agents report it or, for those that do not, as estimated from tokens and prices.
             */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            /**
             * Format: uint64
             * @description Tokens that were read, without those from a cache.
             */
            input_tokens: number;
            /**
             * Format: uint64
             * @description Tokens that were read from a cache.
             */
            cached_tokens: number;
            /** Format: uint64 */
            output_tokens: number;
            /**
             * Format: uint64
             * @description Seconds at work.
             */
            wall_seconds: number;
            /** Format: uint64 */
            turns: number;
        };
        /** @description What a session and its descendants used. */
        UsageTreeView: {
            /** @description The session at the root. */
            session_id: string;
            /** @description Absent when the root is not yours to see. */
            title?: string | null;
            /** @description The root's agent; others of the tree may have another. */
            agent?: string | null;
            /**
             * Format: uint64
             * @description Millionths of a US dollar, as agents report it or, for those that do not, as estimated from tokens and prices.
             */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            /**
             * Format: uint64
             * @description Tokens that were read, without those from a cache.
             */
            input_tokens: number;
            /**
             * Format: uint64
             * @description Tokens that were read from a cache.
             */
            cached_tokens: number;
            /** Format: uint64 */
            output_tokens: number;
            /**
             * Format: uint64
             * @description Seconds at work.
             */
            wall_seconds: number;
            /** Format: uint64 */
            turns: number;
        };
        /** @description Some webhooks, newest first. */
        WebhookListView: {
            webhooks: components["schemas"]["WebhookView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A webhook and how its deliveries stand. */
        WebhookView: {
            id: string;
            short_id: string;
            url: string;
            events: string[];
            board_id?: string | null;
            session_id?: string | null;
            user_id: string;
            /** @description active, paused, or failed (turned off after too many failures) */
            state: string;
            /**
             * Format: uint64
             * @description Deliveries that wait.
             */
            pending: number;
            /**
             * Format: uint64
             * @description Deliveries that were given up.
             */
            dead: number;
            /**
             * Format: uint32
             * @description Attempts that failed since one succeeded.
             */
            failures: number;
            last_error?: string | null;
            created_at: string;
        };
        /** @description A webhook that was made, with its secret. */
        WebhookCreatedView: {
            id: string;
            short_id: string;
            url: string;
            events: string[];
            board_id?: string | null;
            session_id?: string | null;
            user_id: string;
            /** @description active, paused, or failed (turned off after too many failures) */
            state: string;
            /**
             * Format: uint64
             * @description Deliveries that wait.
             */
            pending: number;
            /**
             * Format: uint64
             * @description Deliveries that were given up.
             */
            dead: number;
            /**
             * Format: uint32
             * @description Attempts that failed since one succeeded.
             */
            failures: number;
            last_error?: string | null;
            created_at: string;
            /** @description What deliveries are signed with; shown once. Absent when the request was a repeat. */
            secret?: string | null;
        };
        /** @description A webhook to make. */
        WebhookCreateRequest: {
            /** @description Where to send: an https address that is not of a private network. */
            url: string;
            /** @description Kinds of events, such as session.state_changed, approval.* or *; all unless given. */
            events?: string[];
            /** @description Only what happens on this board and in the sessions begun on it. */
            board?: string | null;
            /** @description Only what happens in this session. */
            session?: string | null;
            /** @description A mark of your choice: a repeat with the same mark makes no second webhook, and does not show the secret again. */
            idempotency_key?: string | null;
        };
        /** @description Stored credentials, newest first. */
        CredentialListView: {
            credentials: components["schemas"]["CredentialView"][];
            /** @description Credentials of the configuration, shown to administrators. */
            configured?: components["schemas"]["ConfiguredCredentialView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of stored credentials.
             */
            total?: number | null;
        };
        /** @description A stored credential, without its token. */
        CredentialView: {
            id: string;
            short_id: string;
            host: string;
            username: string;
            /** @description Whose repositories it is used for: own, admins or everyone. */
            usable_by: string;
            /** @description Who entered it. */
            user_id: string;
            created_at: string;
        };
        /** @description A credential of the configuration, without its token. */
        ConfiguredCredentialView: {
            host: string;
            /** @description configuration or gh; absent while there is no token */
            source?: string | null;
            /** @description Whose repositories it is used for: admins or everyone. */
            usable_by: string;
            /** @description Why there is no token. */
            problem?: string | null;
        };
        /** @description A credential to store. */
        CredentialSetRequest: {
            /** @description The host, such as github.com or git.example.org:8443. */
            host: string;
            /** @description The token; stored encrypted and never shown again. */
            token: string;
            /** @description The user name, for hosts that require one; x-access-token by default. */
            username?: string | null;
            /** @description Whose repositories it is used for: own, admins or everyone; own unless given. Others than own: administrators only. */
            usable_by?: string | null;
            /** @description Idempotency key chosen by the client. */
            idempotency_key?: string | null;
        };
        /** @description A task to add. */
        TaskItem: {
            /** @description What is to be done. */
            content: string;
            /** @description remaining unless given; in_progress, completed, blocked, cancelled */
            status?: string | null;
            /**
             * Format: uint8
             * @description 0, the most urgent, to 4; 2 unless given.
             */
            priority?: number | null;
            /** @description Numbers or ids of tasks to be done first; +1 is the first task of this call. */
            depends_on?: (string | number)[];
        };
        /** @description Tasks that were added. */
        TaskAddedView: {
            /** @description What has the list. */
            list: string;
            tasks: components["schemas"]["TaskView"][];
        };
        /** @description A task. */
        TaskView: {
            /**
             * Format: uint64
             * @description Counts the tasks of the list from 1; accepted wherever a task is named.
             */
            number: number;
            /** @description The last 8 digits of the task's id, accepted too. */
            id: string;
            content: string;
            status: string;
            /** Format: uint8 */
            priority: number;
            /** @description Ids of tasks to be done first. */
            depends_on?: string[];
            /** @description Who has it: a session, or "caller" for somebody who is no agent. */
            claimed_by?: string | null;
            claimed_until?: string | null;
        };
        /** @description Tasks to add to a list. */
        TaskAddRequest: {
            /** @description One or more, in order. */
            tasks: components["schemas"]["TaskItem"][];
            /** @description A mark of your choice: a repeat with it changes nothing twice. */
            idempotency_key?: string | null;
            /** @description The list of the tree that this session is in; an agent's own unless given. */
            session?: string | null;
            /** @description The list of this board. */
            board?: string | null;
            /** @description The list of this loop. */
            loop?: string | null;
            /** @description A list of your own, by its name. */
            list?: string | null;
        };
        /** @description The tasks of a list by status. */
        TaskListView: {
            /** @description What has the list. */
            list: string;
            /** @description When somebody said that the work is done. */
            completed_at?: string | null;
            /** @description What is at work first, then what remains. */
            groups: components["schemas"]["TaskGroupView"][];
            /**
             * Format: uint64
             * @description How many tasks there are in all groups together.
             */
            total: number;
            next_cursor?: string | null;
        };
        /** @description The tasks of one status. */
        TaskGroupView: {
            status: string;
            /**
             * Format: uint64
             * @description Total number of results.
             */
            total: number;
            /** @description Those of this page, the most urgent first. */
            tasks: components["schemas"]["TaskView"][];
        };
        /** @description What there is to do next. */
        TaskNextView: {
            /** @description Nothing when no task can be begun now. */
            task?: components["schemas"]["TaskView"] | null;
            /** Format: uint64 */
            remaining: number;
            /** Format: uint64 */
            in_progress: number;
            /** Format: uint64 */
            blocked: number;
            /** Format: uint64 */
            completed: number;
            /** Format: uint64 */
            cancelled: number;
        };
        /** @description Asks for the next task. */
        TaskNextRequest: {
            /** @description Take it, so that nobody else is given it: until your process ends or, for callers that are no agents, for a time. */
            claim?: boolean | null;
            /**
             * Format: uint32
             * @description How long a caller that is no agent keeps it: 1 to 86400 seconds, 3600 unless given.
             */
            lease_seconds?: number | null;
            /** @description A mark of your choice: a repeat with it changes nothing twice. */
            idempotency_key?: string | null;
            /** @description The list of the tree that this session is in; an agent's own unless given. */
            session?: string | null;
            /** @description The list of this board. */
            board?: string | null;
            /** @description The list of this loop. */
            loop?: string | null;
            /** @description A list of your own, by its name. */
            list?: string | null;
        };
        /** @description A list whose work is done. */
        LoopCompletedView: {
            /** @description What has the list. */
            list: string;
            completed_at?: string | null;
        };
        /** @description Says that all work of a list is done. */
        LoopCompleteRequest: {
            /** @description A mark of your choice: a repeat with it changes nothing twice. */
            idempotency_key?: string | null;
            /** @description The list of the tree that this session is in; an agent's own unless given. */
            session?: string | null;
            /** @description The list of this board. */
            board?: string | null;
            /** @description The list of this loop. */
            loop?: string | null;
            /** @description A list of your own, by its name. */
            list?: string | null;
        };
        /** @description A note to add. */
        NoteItem: {
            /** @description What is to be remembered. */
            content: string;
            /** @description learning, stuck, tip or decision */
            kind: string;
        };
        /** @description Some notes, the latest first. */
        NoteListView: {
            notes: components["schemas"]["NoteView"][];
            /** @description Whether the page is shorter than asked for because its notes are too long together; next_cursor gives the rest. */
            cut?: boolean;
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results.
             */
            total?: number | null;
        };
        /** @description Something to remember. */
        NoteView: {
            /** @description The last 8 digits of the note's id. */
            id: string;
            kind: string;
            content: string;
            /** @description The session that noted it. */
            session?: string | null;
            created_at: string;
        };
        /** @description Notes to add to a list. */
        NoteAddRequest: {
            /** @description One or more. */
            notes: components["schemas"]["NoteItem"][];
            /** @description A mark of your choice: a repeat with it changes nothing twice. */
            idempotency_key?: string | null;
            /** @description The list of the tree that this session is in; an agent's own unless given. */
            session?: string | null;
            /** @description The list of this board. */
            board?: string | null;
            /** @description The list of this loop. */
            loop?: string | null;
            /** @description A list of your own, by its name. */
            list?: string | null;
        };
        /** @description What an iteration came to. */
        IterationView: {
            /**
             * Format: uint64
             * @description Counts the iterations of the list from 1.
             */
            number: number;
            summary: string;
            session?: string | null;
            created_at: string;
            updated_at: string;
        };
        /** @description What an iteration came to. */
        IterationSummaryRequest: {
            /** @description What was done, what was learned, what comes next. */
            summary: string;
            /** @description A mark of your choice: a repeat with it changes nothing twice. */
            idempotency_key?: string | null;
            /** @description The list of the tree that this session is in; an agent's own unless given. */
            session?: string | null;
            /** @description The list of this board. */
            board?: string | null;
            /** @description The list of this loop. */
            loop?: string | null;
            /** @description A list of your own, by its name. */
            list?: string | null;
        };
        /** @description Some loops, newest first. */
        LoopListView: {
            loops: components["schemas"]["LoopSummaryView"][];
            next_cursor?: string | null;
            /**
             * Format: uint64
             * @description Total number of results, counted up to 100000.
             */
            total?: number | null;
        };
        /** @description A loop in a list. */
        LoopSummaryView: {
            /** @description The last 8 digits of the loop's id, accepted wherever an id is. */
            id: string;
            title: string;
            agent: string;
            /** @description beginning, running, paused or ended */
            state: string;
            /** @description completed, limit, budget, stalled, stopped or failed */
            outcome?: string | null;
            /** Format: uint32 */
            iteration: number;
            /** Format: uint32 */
            iterations_max: number;
            created_at: string;
        };
        /** @description A loop and how its work stands. */
        LoopView: {
            id: string;
            short_id: string;
            title: string;
            agent: string;
            /** @description beginning, running, paused or ended */
            state: string;
            /** @description pause or stop, when that was asked for and is about to happen */
            wanted?: string | null;
            /** @description completed, limit, budget, stalled, stopped or failed */
            outcome?: string | null;
            /** @description Why it has ended. */
            reason?: string | null;
            /**
             * Format: uint32
             * @description The number of the iteration that it is at, or was at last.
             */
            iteration: number;
            /** Format: uint32 */
            iterations_max: number;
            /**
             * Format: uint32
             * @description Iterations in a row that changed nothing.
             */
            idle_iterations: number;
            /** @description The session that is at work. */
            session_id?: string | null;
            /** @description Whether that session waits for an answer; approval_list shows for which. */
            waiting?: boolean;
            repo_id: string;
            worktree_id: string;
            /** @description Holds the commits of all iterations. */
            branch: string;
            board_id?: string | null;
            spec: string;
            tasks: components["schemas"]["LoopTasksView"];
            /** @description The task in hand. */
            task?: string | null;
            /** @description For all iterations together; what is absent is not limited. */
            budget: components["schemas"]["BudgetInput"];
            /** @description What is left of it. */
            left: components["schemas"]["BudgetInput"];
            /** Format: uint64 */
            tokens_used: number;
            /** Format: uint64 */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            /** Format: uint64 */
            wall_seconds_used: number;
            /** @description The latest, the last one first. */
            iterations: components["schemas"]["LoopIterationView"][];
            created_at: string;
            updated_at: string;
        };
        /** @description How many tasks of each status there are. */
        LoopTasksView: {
            /** Format: uint64 */
            remaining: number;
            /** Format: uint64 */
            in_progress: number;
            /** Format: uint64 */
            blocked: number;
            /** Format: uint64 */
            completed: number;
            /** Format: uint64 */
            cancelled: number;
        };
        /** @description One iteration of a loop. */
        LoopIterationView: {
            /** Format: uint32 */
            number: number;
            session_id?: string | null;
            /** @description done, cancelled or failed; absent while it is under way */
            end?: string | null;
            reason?: string | null;
            /** @description What it said that it came to, shortened. */
            summary?: string | null;
            /** @description Whether it changed a file, a task or a note, or said something new. */
            changed: boolean;
            /** Format: uint64 */
            tokens_used: number;
            /** Format: uint64 */
            cost_micros: number;
            /**
             * Format: uint64
             * @description How much of the cost is an estimate.
             */
            estimated_micros?: number;
            began_at: string;
            ended_at?: string | null;
        };
        /** @description What happened in a loop, in order. */
        LoopLogView: {
            entries: components["schemas"]["LoopLogEntryView"][];
            /**
             * Format: uint64
             * @description Pass it as `after` to go on; absent when nothing was left out.
             */
            next_after?: number | null;
            /**
             * Format: uint64
             * @description How many entries are kept.
             */
            total?: number | null;
        };
        /** @description Something that happened in a loop. */
        LoopLogEntryView: {
            /** Format: uint64 */
            seq: number;
            at: string;
            /** Format: uint32 */
            iteration: number;
            /** @description loop, iteration, or the name of a hook */
            about: string;
            text: string;
        };
        /** @description A loop to start. Give spec or prompt. */
        LoopStartRequest: {
            /** @description What is to be done. Each iteration is told this with the open tasks, notes and last summaries. */
            spec?: string | null;
            /** @description In place of spec: all that each iteration is told. */
            prompt?: string | null;
            /** @description Which agent: a name of agent_list. */
            agent: string;
            /** @description The repository to work in: its id or name. */
            repo: string;
            /** @description The branch for all iterations: one that exists is checked out, another is made; named after the loop unless given. */
            branch?: string | null;
            /** @description The branch or full commit at which a new branch begins. */
            base?: string | null;
            /** @description Made of the specification unless given. */
            title?: string | null;
            board?: string | null;
            /** @description Tasks to begin with; the agent adds what is missing. */
            tasks?: components["schemas"]["TaskItem"][];
            /**
             * Format: uint32
             * @description 1 to 1000; 20 unless given.
             */
            iterations_max?: number | null;
            /** @description For all iterations together. */
            budget?: components["schemas"]["BudgetInput"] | null;
            /**
             * @description What makes the prompt of each iteration, in place of the built-in one: text with {{ loop.spec }}, {{ tasks.open }},
             *     {{ next.content }}, {{ notes.latest }}, {{ summaries.latest }} and the like.
             */
            template?: string | null;
            /** @description As in session_create; nobody may be there to answer, so allow what the work needs. */
            policy?: components["schemas"]["PolicyInput"] | null;
            /** @description The agent's own name of a way of working. */
            mode?: string | null;
            model?: string | null;
            /** @description The agent's tools: wheelhouse or iteratr; as the repository or the agent is configured unless given. */
            mcp_dialect?: string | null;
            /** @description A mark of your choice: a repeat with the same mark starts nothing twice. */
            idempotency_key?: string | null;
        };
        /** @description The answer to a call that was refused or failed. */
        ErrorBody: {
            error: components["schemas"]["ErrorView"];
        };
        /** @description Why a call was refused or failed, and what to do next. */
        ErrorView: {
            /**
             * @description One of NOT_FOUND, INVALID_INPUT, AMBIGUOUS_ID, UNAUTHENTICATED, FORBIDDEN, CONFLICT, LIMIT_EXCEEDED,
             *     REVIEW_LIMIT_EXCEEDED, UNAVAILABLE, INTERNAL.
             */
            code: string;
            /** @description One readable line. */
            message: string;
            /** @description What to do next, in a sentence for people. */
            hint?: string | null;
            /** @description The same in parts, for clients that render advice in their own terms. Answers of MCP tools leave it out. */
            advice?: components["schemas"]["AdviceView"][];
            /** @description Facts a program can use. */
            details?: {
                [key: string]: unknown;
            };
        };
        /** @description One thing that a caller can do about a refusal. */
        AdviceView: {
            /** @description What to do or what it achieves, in plain words, such as "list the sessions you can access". */
            text: string;
            /** @description The operation to call, by its operationId, such as "session_list". */
            operation?: string | null;
            /**
             * @description Arguments of the operation; without one, the fields of the refused request to change. Null stands for a field to leave out, a
             *     value in angle brackets such as "<ID>" for one to fill in.
             */
            arguments?: {
                [key: string]: unknown;
            };
            /** @description The arguments of the `wheelhouse` program that do this, such as "login". */
            command?: string | null;
        };
    };
    responses: {
        /** @description The request was refused or failed; the body says why and what to do next. */
        Error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    agent_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    agent_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's name, such as claude-code or echo. */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    approval_list: {
        parameters: {
            query?: {
                /** @description Only those of this session. */
                session?: string;
                /** @description Settled ones too; false unless given. */
                include_settled?: boolean;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    approval_answer: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The approval's id, or its last 8 digits. */
                approval: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description allow or deny. */
                    decision: string;
                    /** @description The same for everything of this kind from now on, if the agent offers that. */
                    always?: boolean | null;
                    /** @description The answer to a question, or the reason of a denial, for the agent. */
                    text?: string | null;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    audit_list: {
        parameters: {
            query?: {
                /** @description Only calls by this user, by id or name. */
                user?: string;
                /** @description Only calls of this operation, such as board_create. */
                operation?: string;
                /** @description Only calls that ended so: ok, refused, failed (the fault was the server's), or a code such as FORBIDDEN. */
                outcome?: string;
                /** @description Only calls that came in here: mcp, rest, server. */
                surface?: string;
                /** @description Only calls about what has this id, or these last 8 digits of one: they changed it, or named it. */
                about?: string;
                /** @description Only calls from then on: a day like 2026-11-15, a time in RFC 3339, or 7d (so many days, today among them). */
                since?: string;
                /** @description Only calls until then: a day, to its end, or a time. */
                until?: string;
                /** @description Successful reads and parts of other calls too; false by default, unless operation is one that reads. */
                include_reads?: boolean;
                /** @description How many minutes your clocks are ahead of UTC, -1080 to 1080; it decides where a day begins. 0 unless given. */
                utc_offset?: number;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    backup_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackupCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupCreatedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_list: {
        parameters: {
            query?: {
                /** @description Those that others share with you, in place of your own. */
                shared?: boolean;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BoardCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The board's id, or its last 8 digits. */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_delete: {
        parameters: {
            query?: {
                /**
                 * @description Delete it although something depends on it: sessions, worktrees and loops stay without a board; its tasks, notes and webhooks are
                 *     deleted. False unless given.
                 */
                force?: boolean;
                /** @description Idempotency key chosen by the client. */
                idempotency_key?: string;
            };
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The board's id, or its last 8 digits. */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_update: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The board's id, or its last 8 digits. */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    name?: string | null;
                    description?: string | null;
                    /** @description Zones to add or change. */
                    zones?: components["schemas"]["ZoneInputRequest"][];
                    /** @description Zones to remove, by id or name; what lay in them stays on the board. */
                    remove_zones?: string[];
                    /** @description Items to place or move. */
                    place?: components["schemas"]["PlaceInput"][];
                    /** @description Items to take off the board. */
                    remove_items?: components["schemas"]["ItemInput"][];
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_cards: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The board's id, or its last 8 digits. */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardCardsView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_duplicate: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The board's id, or its last 8 digits. */
                board: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What the copy is called. */
                    name: string;
                    /**
                     * @description Place the same worktrees on the copy; false unless given. Sessions stay where they are.
                     * @default false
                     */
                    include_worktrees?: boolean;
                    /** @description A mark of your choice: a repeat with the same mark makes no second copy. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    board_share: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The board's id, or its last 8 digits. */
                board: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description everyone, or a user's name or id. */
                    with: string;
                    /**
                     * @description read (the board, its sessions and their transcripts), prompt (the same, and send prompts to the sessions) or none (no
                     *     longer).
                     */
                    level: string;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    config_get: {
        parameters: {
            query?: {
                /** @description One setting, such as review.max_iterations; all unless given. */
                key?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    config_get_one: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One setting, such as review.max_iterations; all unless given. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    config_set: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The setting, such as review.max_iterations. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The value to set; back to the default unless given. A name for settings whose values have names, otherwise a whole number. */
                    value?: components["schemas"]["SettingInput"] | null;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    credential_list: {
        parameters: {
            query?: {
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    credential_set: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialSetRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    credential_delete: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The id of a stored credential, its last 8 digits, or its host. */
                credential: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    event_list: {
        parameters: {
            query?: {
                /** @description Events after this number; the beginning unless given. */
                after?: string | number;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
            };
            header?: {
                /** @description Where a stream goes on; counts more than `after`. */
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventListView"];
                    "text/event-stream": components["schemas"]["FeedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    iteration_summary: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IterationSummaryRequest"];
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IterationView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    key_list: {
        parameters: {
            query?: {
                /** @description Whose, by id or name; all you may see unless given. */
                user?: string;
                /** @description Signed-in browsers and agents' session tokens too; false unless given. */
                include_automatic?: boolean;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    key_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyCreatedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    key_revoke: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The key's id (not its secret). */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    login_link_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginLinkCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginLinkView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Empty"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_list: {
        parameters: {
            query?: {
                /** @description Only those that have not ended. */
                open?: boolean;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_start: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoopStartRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_complete: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoopCompleteRequest"];
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopCompletedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The loop's id, or its last 8 digits. */
                loop: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_log: {
        parameters: {
            query?: {
                /** @description Only what came after the entry of this number. */
                after?: string | number;
                /** @description How many entries at most: 1 to 200, 50 unless given. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The loop's id, or its last 8 digits. */
                loop: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopLogView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_pause: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The loop's id, or its last 8 digits. */
                loop: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_resume: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The loop's id, or its last 8 digits. */
                loop: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description New limits: tokens, cost_micros, wall_seconds, turns; null removes one. Not by agents. */
                    budget?: {
                        [key: string]: unknown;
                    } | null;
                    /**
                     * Format: uint32
                     * @description 1 to 1000, past ones included. Not by agents.
                     */
                    iterations_max?: number | null;
                    /** @description Idempotency key chosen by the client; a retry with the same key changes nothing. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    loop_stop: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The loop's id, or its last 8 digits. */
                loop: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    message_get: {
        parameters: {
            query?: {
                /** @description The session whose message it is; the calling session unless given. */
                session?: string;
            };
            header?: never;
            path: {
                /** @description The message's id, or with `session` its seq. */
                message: string | number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    note_list: {
        parameters: {
            query?: {
                /** @description Only learning, stuck, tip or decision */
                kind?: string;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
                /** @description The list of the tree that this session is in; an agent's own unless given. */
                session?: string;
                /** @description The list of this board. */
                board?: string;
                /** @description The list of this loop. */
                loop?: string;
                /** @description A list of your own, by its name. */
                list?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    note_add: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoteAddRequest"];
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    repo_list: {
        parameters: {
            query?: {
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepoListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    repo_add: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RepoAddRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepoView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    repo_delete: {
        parameters: {
            query?: {
                /**
                 * @description Delete it although something depends on it: loops are stopped, sessions stopped and archived, worktrees removed after everything
                 *     in them was saved. False unless given.
                 */
                force?: boolean;
                /** @description Idempotency key chosen by the client. */
                idempotency_key?: string;
            };
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The id of a repository, its last 8 digits, or its name. */
                repo: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    repo_check: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a repository, its last 8 digits, or its name. */
                repo: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepoCheckView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    repo_trust: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The id of a repository, its last 8 digits, or its name. */
                repo: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A worktree, or a session, whose files to show; the default branch unless given. */
                    worktree?: string | null;
                    /** @description The sha256 of each configuration to approve, as shown by this call; only shows them unless given. */
                    approve?: string[];
                    /** @description The sha256 of each approval to revoke. Sessions that run keep what they loaded until their next run. */
                    revoke?: string[];
                    /** @description Idempotency key chosen by the client. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepoTrustView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_search: {
        parameters: {
            query: {
                /** @description Messages that hold all of these words are found; there is no search syntax. */
                query: string;
                /** @description How many at most: 1 to 200, 20 unless given. */
                limit?: number;
                /** @description next_cursor of the page before, or how many messages to skip. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSearchView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    server_config_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerConfigView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_list: {
        parameters: {
            query?: {
                /** @description Filter by state, such as running, waiting, idle, failed. */
                states?: string[];
                /** @description Only sessions that need you. */
                needs_you?: boolean;
                /** @description Search titles and ids. */
                title?: string;
                /** @description Only on this board. */
                board?: string;
                /** @description Filter by worktree, or by a session's worktree. */
                worktree?: string;
                /** @description Only children of this session. */
                parent?: string;
                /** @description Those that others share with you, in place of your own. */
                shared?: boolean;
                /** @description Include archived. */
                include_archived?: boolean;
                /** @description Include the total. */
                count?: boolean;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_counts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionCountsView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_current: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_wait: {
        parameters: {
            query: {
                /** @description Ids, or their last 8 digits. */
                sessions: string[];
                /** @description all (unless given) or any of them. */
                wait_for?: string;
                /** @description Seconds at most: 1 to 300, 60 unless given. */
                timeout?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionWaitView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_spawn: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The calling session unless given. */
                parent: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What the child is to do; it knows nothing of your conversation. */
                    prompt: string;
                    /** @description Files with the prompt: at most 8, and 8 MiB together. */
                    files?: components["schemas"]["PromptFileInput"][];
                    /** @description Yours unless given. */
                    agent?: string | null;
                    title?: string | null;
                    role?: string | null;
                    /** @description own: a new worktree from the parent's branch; shared: the parent's; none: an empty directory. */
                    workspace?: string | null;
                    /** @description Of the parent's board, by id or name. */
                    zone?: string | null;
                    /** @description Of its own worktree. */
                    branch?: string | null;
                    mode?: string | null;
                    model?: string | null;
                    /** @description Containment; at least the parent's. */
                    tier?: string | null;
                    hosts?: string[] | null;
                    /** @description As in session_create; the parent's unless given. */
                    mcp_dialect?: string | null;
                    /** @description tokens, cost_micros, wall_seconds, turns; at most what the parent has left. */
                    budget?: {
                        [key: string]: number;
                    } | null;
                    /** @description As in session_create, narrowed to the parent's. */
                    policy?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Prompt the parent when the child is done, failed or needs an answer. */
                    callback?: boolean | null;
                    /**
                     * Format: uint32
                     * @description Seconds to wait for the child: 0 (default) to 300.
                     */
                    wait?: number | null;
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_update: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The session's id, or its last 8 digits; the calling session unless given. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    title?: string | null;
                    description?: string | null;
                    /** @description New limits: tokens, cost_micros, wall_seconds, turns; null removes one. Not by agents. */
                    budget?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description New role for a session that has the role lead. Not available to agents. */
                    role?: string | null;
                    /** @description Model to use from the next turn on. Not available to agents. */
                    model?: string | null;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_fork: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The last turn to take over: its number or id; the last one that is over unless given. */
                    turn?: string | number | null;
                    /** @description How to go on from there. */
                    prompt?: string | null;
                    /** @description The agent that goes on; the same unless given. */
                    agent?: string | null;
                    model?: string | null;
                    title?: string | null;
                    /** @description Prompt the parent when the fork is done, failed or needs an answer. */
                    callback?: boolean | null;
                    /** @description Leave out files that were not committed then. */
                    leave_uncommitted?: boolean | null;
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_interrupt: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The number or id of the turn to cancel, such as a queued prompt; the running turn unless given. */
                    turn?: string | number | null;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_manage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description start, stop, archive, restore or delete. */
                    action: string;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    message_list: {
        parameters: {
            query?: {
                /** @description Everything after this message, by its seq or its id (0 for all); only the agent's latest words unless given. */
                after?: string | number;
                /** @description words (what a person would read; the default) or full (tool input and output too). */
                view?: string;
                /** @description The server's own notes too. */
                include_system?: boolean;
                /** @description Also say in a few lines what the session has been doing, citing message ids. */
                summarize?: boolean;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description How many bytes of text at most, 16000 unless given. */
                max_bytes?: number;
            };
            header?: never;
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_prompt: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    prompt: string;
                    /** @description Files: at most 8, and 8 MiB together. */
                    files?: components["schemas"]["PromptFileInput"][];
                    /** @description If it is at work: queue (unless given) waits, steer ends the running turn first, reject refuses. */
                    when_busy?: string | null;
                    /**
                     * Format: uint32
                     * @description Seconds to wait for the end of the turn or a question: 0 (default) to 300.
                     */
                    wait?: number | null;
                    /** @description A repeat with the same key prompts nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    run_list: {
        parameters: {
            query?: {
                /** @description How many at most: 1 to 20, 5 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
                /** @description How many bytes of each run's stderr, the last ones: 0 to 16384, 4000 unless given. */
                max_bytes?: number;
            };
            header?: never;
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    session_tree: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionTreeView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    turn_list: {
        parameters: {
            query?: {
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before, or a turn by its number or id: the turns before it. */
                cursor?: string | number;
            };
            header?: never;
            path: {
                /** @description The session's id, or its last 8 digits. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    task_list: {
        parameters: {
            query?: {
                /** @description Only those of this status. */
                status?: string;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before, or a task by its number or id: the tasks after it. */
                cursor?: string | number;
                /** @description The list of the tree that this session is in; an agent's own unless given. */
                session?: string;
                /** @description The list of this board. */
                board?: string;
                /** @description The list of this loop. */
                loop?: string;
                /** @description A list of your own, by its name. */
                list?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    task_add: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskAddRequest"];
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskAddedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    task_next: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskNextRequest"];
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskNextView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    task_update: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The task's number in the list, or its id. */
                task: string | number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description remaining, in_progress, completed, blocked or cancelled */
                    status?: string | null;
                    /**
                     * Format: uint8
                     * @description 0, the most urgent, to 4.
                     */
                    priority?: number | null;
                    content?: string | null;
                    /** @description All tasks to be done first, by number or id. */
                    depends_on?: (string | number)[] | null;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                    /** @description The list of the tree that this session is in; an agent's own unless given. */
                    session?: string | null;
                    /** @description The list of this board. */
                    board?: string | null;
                    /** @description The list of this loop. */
                    loop?: string | null;
                    /** @description A list of your own, by its name. */
                    list?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    turn_get: {
        parameters: {
            query?: {
                /** @description The session whose turn it is; the calling session unless given. */
                session?: string;
            };
            header?: never;
            path: {
                /** @description The turn's id, its last 8 digits, or with `session` its number. */
                turn: string | number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnDetailView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    turn_file: {
        parameters: {
            query: {
                /** @description The session whose turn it is; the calling session unless given. */
                session?: string;
                /** @description Which of its files, from 1. */
                number: number;
            };
            header?: never;
            path: {
                /** @description The turn's id, its last 8 digits, or with `session` its number. */
                turn: string | number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnFileView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    usage_report: {
        parameters: {
            query?: {
                /**
                 * @description From when on: 30d (so many days, today among them), a day like 2026-11-15, or a time in RFC 3339; 30d unless given. At
                 *     most 366 days are told.
                 */
                since?: string;
                /** @description Until when: a day, to its end, or a time; now unless given. */
                until?: string;
                /** @description How many minutes your clocks are ahead of UTC, -1080 to 1080; it decides where a day begins. 0 unless given. */
                utc_offset?: number;
                /** @description How many trees of sessions to tell one by one, 1 to 200, 20 unless given; the others are told as one sum. */
                trees?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReportView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    user_list: {
        parameters: {
            query?: {
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    user_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    user_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id or name; you unless given. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    user_delete: {
        parameters: {
            query?: {
                /**
                 * @description Delete the user although something depends on it: sessions are stopped and everything the user owns becomes yours; keys are
                 *     revoked, and shares, webhooks and the user's own credentials deleted. False unless given.
                 */
                force?: boolean;
                /** @description Idempotency key chosen by the client. */
                idempotency_key?: string;
            };
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The user's id or name. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    user_update: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The user's id or name. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description admin or member */
                    role?: string | null;
                    /** @description Empty takes it away. */
                    email?: string | null;
                    /** @description true: their keys and browsers open nothing, and their sessions and loops are stopped; nothing is deleted. */
                    disabled?: boolean | null;
                    /**
                     * @description Directories on the server's machine that a member may use from now on, with everything below them: for `path` sessions
                     *     and local repositories.
                     */
                    allow_paths?: string[];
                    /** @description Directories that the user may not use any more. */
                    disallow_paths?: string[];
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    webhook_list: {
        parameters: {
            query?: {
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    webhook_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookCreatedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    webhook_delete: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The webhook's id, or its last 8 digits. */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    webhook_update: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The webhook's id, or its last 8 digits. */
                webhook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Whether it is told of what happens; one that is turned on begins with the newest event and a clean record. */
                    active: boolean;
                    /** @description A mark of your choice: a repeat with it changes nothing twice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    whoami: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhoAmIView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    worktree_list: {
        parameters: {
            query?: {
                /** @description Only worktrees of this repository, by id or name. */
                repo?: string;
                /** @description Only worktrees of this board. */
                board?: string;
                /** @description Only worktrees in one of these states: making, ready, removing, removed. All but removed ones unless given. */
                states?: string[];
                /** @description Only ready ones in which no session is at work, with their size and what removing them would lose. */
                finished?: boolean;
                /** @description How many at most: 1 to 200, 50 unless given. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorktreeListView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    worktree_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorktreeCreateRequest"];
            };
        };
        responses: {
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorktreeView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    worktree_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a worktree, or of a session that works in it, or its last 8 digits. */
                worktree: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorktreeView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    worktree_remove: {
        parameters: {
            query?: {
                /** @description Save everything under a git reference first, instead of refusing; false unless given. */
                rescue?: boolean;
                /** @description With rescue: delete ignored files, such as build output, that are too large to save; false unless given. */
                discard_ignored?: boolean;
                /** @description A mark of your choice. */
                idempotency_key?: string;
            };
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The id of a worktree, or of a session that works in it, or its last 8 digits. */
                worktree: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorktreeRemovedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    worktree_diff: {
        parameters: {
            query?: {
                /** @description Compare with where it left this branch or full commit; with where the worktree began unless given. */
                against?: string;
                /** @description The text of the changes too, not only which files changed; true unless given. */
                patch?: boolean;
                /** @description How much text at most, in bytes: 1000 to 1000000, 50000 unless given. */
                bytes_max?: number;
                /** @description How many files at most: 1 to 300, 100 unless given. */
                limit?: number;
                /** @description next_cursor of the page before, or how many files to skip. */
                cursor?: string | number;
            };
            header?: never;
            path: {
                /** @description The id of a worktree, or of a session that works in it, or its last 8 digits. */
                worktree: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorktreeDiffView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    worktree_merge: {
        parameters: {
            query?: never;
            header?: {
                /** @description A mark of your choice: a repeat with the same mark within 24 hours gets the first result. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description The id of a worktree, or of a session that works in it, or its last 8 digits. */
                worktree: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The branch to merge into; the repository's default branch unless given. */
                    into?: string | null;
                    /** @description The message of a merge commit, if one is made. */
                    message?: string | null;
                    /** @description Commit all uncommitted changes first, with this message; the repository's hooks do not run. */
                    commit?: string | null;
                    /** @description Merge without the uncommitted changes, which stay in the worktree; false by default. */
                    leave_uncommitted?: boolean | null;
                    /**
                     * @description After the merge, archive the worktree's sessions, remove the worktree and delete its branch; ignored files are saved under a
                     *     git reference. False by default.
                     */
                    remove_after?: boolean | null;
                    /** @description A mark of your choice. */
                    idempotency_key?: string | null;
                };
            };
        };
        responses: {
            /** @description It was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorktreeMergedView"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
}
