// The one place that names the Catch2 header: version 3 is one edit.
#pragma once
#include <catch2/catch.hpp>
