//// all of cumsum_of_columns_of_17
