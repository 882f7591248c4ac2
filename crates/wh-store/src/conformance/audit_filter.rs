//! Checks of what the audit log can be asked for.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;
use wh_domain::{
    AuditAbout, AuditEntry, AuditFilter, BoardId, ErrorCode, Facts, NewAuditEntry, Operation,
    Outcome as Ended, OutcomeFilter, PageLimit, PageRequest, Reach, ShortId, Surface, UserId,
};

use super::Outcome;
use super::fixture::{self, Made, audit, eventually, pages};
use crate::{AUDIT_COMPARED_MAX, Store};

/// How many calls of each kind there are.
const CALLS: u32 = 120;

/// Whatever is asked for at once, those entries are listed that all of it is true of, in their order, and no others.
pub async fn filters_hold_together_in_a_store_of_its_own(store: Arc<dyn Store>) -> Outcome {
    let users = [
        fixture::user(&store).await?.id,
        fixture::user(&store).await?.id,
    ];
    let boards: [BoardId; 3] = std::array::from_fn(|_| fixture::id());
    let began = fixture::now();
    for n in 0..CALLS {
        let entry = call(n, &users, &boards, began);
        store.audit_note(entry).await?;
    }
    let no_filter = AuditFilter::default();
    let everything = || pages(100, |page| store.audit_list(Reach::All, &no_filter, page));
    let made = CALLS as usize + users.len();
    eventually(|| async { Ok(everything().await?.len() == made) }).await?;
    let everything = everything().await?;
    let mut asked = 0;
    let mut found = 0;
    for filter in filters(&users, &boards, began)? {
        for reach in [Reach::All, Reach::User(users[1])] {
            let listed = pages(7, |page| store.audit_list(reach, &filter, page)).await?;
            let seen =
                |entry: &&AuditEntry| reach == Reach::All || reach == Reach::User(entry.body.user);
            let expected = everything.iter().filter(seen);
            let expected: Vec<_> = expected.filter(|it| is_meant(&filter, it)).collect();
            assert!(listed.iter().eq(expected), "{reach:?} {filter:?}");
            (asked, found) = (asked + 1, found + listed.len());
        }
    }
    assert!(asked > 500 && found > asked, "{asked} asked, {found} found");
    Ok(())
}

/// However rare something is, a page looks at a bounded number of entries, and the next one goes on.
pub async fn what_is_rare_is_found_page_by_page(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let rare = NewAuditEntry {
        surface: Surface::Mcp,
        ..audit(user, Operation::BoardGet)
    };
    store.audit_note(rare.clone()).await?;
    for _ in 0..AUDIT_COMPARED_MAX {
        store.audit_note(audit(user, Operation::BoardGet)).await?;
    }
    let filter = AuditFilter {
        surface: Some(Surface::Mcp),
        operation: Some(Operation::BoardGet),
        ..AuditFilter::default()
    };
    let count = || async {
        let first = PageRequest::first(PageLimit::DEFAULT);
        let page = store.audit_list(Reach::User(user), &filter, first).await?;
        Made::Ok((page.items.len(), page.next))
    };
    // Until all are written the first page sees the rare one.
    eventually(|| async { Ok(count().await?.0 == 0) }).await?;
    assert!(count().await?.1.is_some(), "there is more to look at");
    let found = pages(50, |page| {
        store.audit_list(Reach::User(user), &filter, page)
    });
    let found: Vec<_> = found.await?.into_iter().map(|it| it.body).collect();
    assert_eq!(found, [rare]);
    Ok(())
}

/// Returns one of many calls: a minute apart, by two users, of all surfaces and outcomes, about three boards in every way
/// of writing their ids. Some took long and are written late, and some are parts of others.
fn call(n: u32, users: &[UserId; 2], boards: &[BoardId; 3], began: Timestamp) -> NewAuditEntry {
    let late = if n % 7 == 6 { 40 } else { 0 };
    let board = boards[n as usize % 3];
    let written = match n % 5 {
        0 => board.to_string(),
        1 => board.short_id(),
        2 => board.to_string().to_uppercase().replace('-', ""),
        3 => board.short_id().to_uppercase(),
        _ => format!("{board}x"),
    };
    let facts = Facts::from([("board".to_owned(), written)]);
    let entry = NewAuditEntry {
        at: began + SignedDuration::from_mins(i64::from(n) - late),
        surface: Surface::ALL[n as usize / 2 % 3],
        subject: n.is_multiple_of(4).then(|| board.into()),
        facts: if n.is_multiple_of(8) {
            Facts::new()
        } else {
            facts
        },
        outcome: match n % 6 {
            1 => Ended::Refused(ErrorCode::ALL[n as usize / 6 % ErrorCode::ALL.len()]),
            _ => Ended::Done,
        },
        ..audit(
            users[n as usize / 3 % 2],
            [Operation::BoardGet, Operation::BoardUpdate][n as usize / 5 % 2],
        )
    };
    match n % 13 {
        4 => entry.part_of(Operation::BoardDuplicate),
        _ => entry,
    }
}

/// Returns every combination of some things that can be asked for.
fn filters(users: &[UserId; 2], boards: &[BoardId; 3], began: Timestamp) -> Made<Vec<AuditFilter>> {
    let mut filters = vec![AuditFilter::default()];
    let mut each = |values: Vec<&dyn Fn(&mut AuditFilter)>| {
        let mut more = filters.clone();
        for set in values {
            more.extend(filters.iter().cloned().map(|mut filter| {
                set(&mut filter);
                filter
            }));
        }
        filters = more;
    };
    let about = |text: String| AuditAbout::parse(&text).map(Some);
    let (whole, short) = (about(boards[0].to_string())?, about(boards[1].short_id())?);
    let minute = |n| Some(began + SignedDuration::from_mins(n));
    each(vec![&|it| it.user = Some(users[0])]);
    each(vec![&|it| it.operation = Some(Operation::BoardUpdate)]);
    each(vec![
        &|it| it.outcome = Some(OutcomeFilter::Done),
        &|it| it.outcome = Some(OutcomeFilter::Refused),
        &|it| it.outcome = Some(OutcomeFilter::Failed),
        &|it| it.outcome = Some(OutcomeFilter::Code(ErrorCode::Conflict)),
    ]);
    each(vec![&|it| it.surface = Some(Surface::Mcp)]);
    each(vec![&|it| it.without_reads = true]);
    each(vec![&|it| it.about = whole.clone(), &|it| {
        it.about = short.clone();
    }]);
    each(vec![
        &|it| it.since = minute(70),
        &|it| it.until = minute(30),
        &|it| (it.since, it.until) = (minute(25), minute(75)),
    ]);
    Ok(filters)
}

/// Tells what a filter means, in other words than a database does.
fn is_meant(filter: &AuditFilter, entry: &AuditEntry) -> bool {
    let body = &entry.body;
    filter.user.is_none_or(|it| it == body.user)
        && filter.operation.is_none_or(|it| it == body.operation)
        && filter.outcome.is_none_or(|it| it.covers(body.outcome))
        && filter.surface.is_none_or(|it| it == body.surface)
        && filter.since.is_none_or(|it| it <= body.at)
        && filter.until.is_none_or(|it| body.at < it)
        && (!filter.without_reads
            || body.subject.is_some()
            || body.outcome != Ended::Done
            || (filter.operation.is_some() && body.facts.contains_key(NewAuditEntry::PART_OF)))
        && filter.about.as_ref().is_none_or(|it| is_about(it, body))
}

fn is_about(about: &AuditAbout, entry: &NewAuditEntry) -> bool {
    let names = |text: &str| match (Uuid::try_parse(text), about.id) {
        (Ok(id), Some(meant)) => id == meant,
        (Ok(id), None) => id.simple().to_string().ends_with(&about.short),
        (Err(_), _) => text.eq_ignore_ascii_case(&about.short),
    };
    let subject = entry.subject.map(|subject| subject.id.to_string());
    subject
        .iter()
        .chain(entry.facts.values())
        .any(|text| names(text))
}
