//! Geometry of a page.

use lopdf::Object;

/// A transformation of the plane, with the six numbers of ISO 32000-1, section 8.3.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [f32; 6]);

/// A point, or a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) const fn translation(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Reads an array of six numbers; anything else in it is 0.
    pub(super) fn read(object: &Object) -> Option<Self> {
        let numbers: &[Object; 6] = object.as_array().ok()?.as_slice().try_into().ok()?;
        Some(Self(numbers.each_ref().map(|number| number.as_float().unwrap_or(0.0))))
    }

    /// Returns the transformation that applies this one first, then the other.
    pub(super) fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [a2, b2, c2, d2, e2, f2]) = (self.0, other.0);
        Self([
            a * a2 + b * c2,
            a * b2 + b * d2,
            c * a2 + d * c2,
            c * b2 + d * d2,
            e * a2 + f * c2 + e2,
            e * b2 + f * d2 + f2,
        ])
    }

    pub(super) fn origin(self) -> Point {
        Point { x: self.0[4], y: self.0[5] }
    }

    /// Transforms a vector, ignoring the translation.
    pub(super) fn way(self, x: f32, y: f32) -> Point {
        let [a, b, c, d, ..] = self.0;
        Point { x: x * a + y * c, y: x * b + y * d }
    }

    /// Returns the area of a transformed unit square.
    pub(super) fn area(self) -> f32 {
        let [a, b, c, d, ..] = self.0;
        (a * d - b * c).abs()
    }
}

impl Point {
    pub(super) fn to(self, other: Self) -> Self {
        Self { x: other.x - self.x, y: other.y - self.y }
    }

    pub(super) fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y
    }

    pub(super) fn cross(self, other: Self) -> f32 {
        self.x * other.y - self.y * other.x
    }

    pub(super) fn length(self) -> f32 {
        self.x.hypot(self.y)
    }

    /// Returns the unit vector of the same direction; `None` for a zero vector.
    pub(super) fn direction(self) -> Option<Self> {
        let length = self.length();
        (length.is_finite() && length > 0.0).then(|| Self { x: self.x / length, y: self.y / length })
    }
}
