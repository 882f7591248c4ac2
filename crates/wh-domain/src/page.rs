//! Lists are read a page at a time.

/// How many items a page may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit(u32);

impl PageLimit {
    /// The page size when the caller names none.
    pub const DEFAULT: Self = Self(50);
    /// The largest page.
    pub const MAX: Self = Self(200);

    /// Returns the asked size, within 1 and the largest page.
    pub fn clamped(asked: Option<u32>) -> Self {
        asked.map_or(Self::DEFAULT, |n| Self(n.clamp(1, Self::MAX.0)))
    }

    /// Returns the number of items.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Asks for the items after `after`, in the list's own order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest<C> {
    pub limit: PageLimit,
    pub after: Option<C>,
    /// How many items to leave out first, for callers that count items instead of keeping a cursor.
    pub skip: u32,
    /// Whether to count the whole list too.
    pub is_counted: bool,
}

impl<C> PageRequest<C> {
    /// Asks for the first page.
    pub fn first(limit: PageLimit) -> Self {
        Self {
            limit,
            after: None,
            skip: 0,
            is_counted: false,
        }
    }

    /// Asks for the total too.
    pub fn counted(self) -> Self {
        Self {
            is_counted: true,
            ..self
        }
    }

    /// Asks for the same page after something else.
    pub fn after<D>(self, after: Option<D>) -> PageRequest<D> {
        PageRequest {
            limit: self.limit,
            after,
            skip: self.skip,
            is_counted: self.is_counted,
        }
    }
}

/// Some items of a list, and where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C> {
    pub items: Vec<T>,
    /// The cursor of the next page; absent on the last one.
    pub next: Option<C>,
    /// How many items the whole list has, if the request asked for that.
    pub total: Option<u64>,
}

impl<T, C> Page<T, C> {
    /// Returns a list without items.
    pub fn empty() -> Self {
        Self {
            items: Vec::new(),
            next: None,
            total: Some(0),
        }
    }

    /// Makes a page from up to `limit + 1` items: the one too many only tells that there is more.
    pub fn from_overfetch(mut items: Vec<T>, limit: PageLimit, cursor: impl Fn(&T) -> C) -> Self {
        let size = limit.get() as usize;
        let more = items.len() > size;
        items.truncate(size);
        let next = if more { items.last().map(cursor) } else { None };
        Self {
            items,
            next,
            total: None,
        }
    }

    /// Ends the page where its items have more than `bytes_max` bytes together. One item always stays, so that a walk comes to its end.
    #[must_use]
    pub fn within_bytes(
        mut self,
        bytes_max: usize,
        bytes: impl Fn(&T) -> usize,
        cursor: impl Fn(&T) -> C,
    ) -> Self {
        let mut sum = 0;
        let fits = |item: &&T| {
            sum += bytes(item);
            sum <= bytes_max
        };
        let fitting = self.items.iter().take_while(fits).count().max(1);
        if fitting < self.items.len() {
            self.items.truncate(fitting);
            self.next = self.items.last().map(cursor);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_too_many_becomes_a_cursor() {
        let limit = PageLimit::clamped(Some(2));
        let page = Page::from_overfetch(vec![9, 8, 7], limit, |n| *n);
        assert_eq!((page.items, page.next), (vec![9, 8], Some(8)));
        let page = Page::from_overfetch(vec![9, 8], limit, |n| *n);
        assert_eq!(page.next, None);
    }

    #[test]
    fn a_page_ends_before_it_is_too_long_but_holds_one_item() {
        let page = |items: Vec<usize>| Page {
            items,
            next: Some(0),
            total: Some(9),
        };
        let check = |items: Vec<usize>, expected: &[usize], next| {
            let cut = page(items).within_bytes(10, |it| *it, |it| *it);
            assert_eq!((cut.items.as_slice(), cut.next), (expected, Some(next)));
            assert_eq!(cut.total, Some(9));
        };
        check(vec![5, 5], &[5, 5], 0);
        check(vec![5, 4, 2, 1], &[5, 4], 4);
        check(vec![11, 1], &[11], 11);
        check(vec![], &[], 0);
    }

    #[test]
    fn sizes_are_clamped() {
        assert_eq!(PageLimit::clamped(None).get(), 50);
        assert_eq!(PageLimit::clamped(Some(0)).get(), 1);
        assert_eq!(PageLimit::clamped(Some(u32::MAX)).get(), 200);
    }
}
